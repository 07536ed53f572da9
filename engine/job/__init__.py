"""One job: its request, its limits, and its spending."""
