"""What is known of each model: its profile, its speed, its token counts."""
