"""The history of tasks on disk: their plans and the results of their steps, so that a task can be resumed."""
