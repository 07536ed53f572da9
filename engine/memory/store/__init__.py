"""The memory's own process: its table, its index and what keeps them small."""
