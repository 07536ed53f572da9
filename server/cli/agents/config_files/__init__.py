"""Configuration files of coding agents: where they are, and entries of ours merged into them, marked, and taken out."""
