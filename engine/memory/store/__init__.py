"""The memory's separate process: its table, its index and their maintenance."""
