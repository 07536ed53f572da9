"""Compares the behavior of old and new code by running both on the same inputs."""
