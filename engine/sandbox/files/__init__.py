"""What a box sees of the workspace, and what it writes."""
