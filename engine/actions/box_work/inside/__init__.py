"""What runs in the sandbox beside the model's program; it needs Python 3.8 and nothing else."""
