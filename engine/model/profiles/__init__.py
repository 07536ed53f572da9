"""What is known of each model: its profile, its speed, how it counts tokens."""
