"""The workspace's symbols: which file defines a name. Kept on the disk, one private database for each root.

`child` reads a whole root in a process of its own, `workspace` is the side of those who ask and who hear of changes.
What is here is found by a name, never trusted: a file is looked at again before any of it is shown.
"""
