"""The workspace's symbols: which file defines a name. Kept on the disk, one private database for each root.

`index_child` reads a whole root in a process of its own, `symbol_index` answers questions and hears of changes.
What is here is found by a name, never trusted: a file is looked at again before any of it is shown.
"""
