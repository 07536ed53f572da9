"""Planning of a task: its steps, and the workspace as it would be after them."""
