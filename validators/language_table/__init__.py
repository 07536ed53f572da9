"""The table of languages: its columns, its rows, and how a file without a telling name is recognized."""
