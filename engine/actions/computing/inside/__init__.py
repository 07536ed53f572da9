"""What runs in the sandbox with the model's program; it needs Python 3.8 and nothing else."""
