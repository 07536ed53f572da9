"""The arms of a task: each does the steps that need one of its capabilities; the router chooses among them."""
