"""The steps of a task: asked for, read, and the workspace as it is after them."""
