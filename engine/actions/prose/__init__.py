"""What actions share that answer in words."""
