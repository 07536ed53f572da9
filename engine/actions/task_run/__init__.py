"""Runs the steps of a plan: side by side where they can, judged, and put together into one answer."""
