"""`stet demo`: runs every action on a small project."""
