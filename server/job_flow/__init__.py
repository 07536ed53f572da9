"""A job from its start to its edit in the document."""
