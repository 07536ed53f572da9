"""What actions share that replace the target."""
