"""What a command works on: settings, files and the target."""
