"""`stet demo`: runs every action but `task` on a small project."""
