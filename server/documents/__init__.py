"""Open documents, their snapshots, and positions that move with edits."""
