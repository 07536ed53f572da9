"""What the user is asked first: running code, trusting a project, downloading a model."""
