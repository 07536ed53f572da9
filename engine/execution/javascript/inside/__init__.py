"""What runs in the box: loads both versions, calls them and reports."""
