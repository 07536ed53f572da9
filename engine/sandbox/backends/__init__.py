"""Sandbox backends (bubblewrap, Landlock, Seatbelt, containers) and the detection of those that work here."""
