"""The workspace's symbols: which file defines a name. Stored on the disk in one private database for each root.

`index_child` reads a whole root in a separate process; `symbol_index` answers queries and processes file changes.
The index is not trusted: a file is read again before any of it is shown.
"""
