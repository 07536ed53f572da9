"""The inputs of a command: settings, files and the target."""
