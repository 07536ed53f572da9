"""What a prompt shows beside the target."""
