"""What changed: two trees, the units that differ, what the change claims to be, and which of it to judge first."""
