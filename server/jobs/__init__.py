"""Jobs that run or ran, and their progress."""
