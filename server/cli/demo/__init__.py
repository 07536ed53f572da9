"""`stet demo`: every action at work on a small project."""
