"""Questions before a job goes on: running code, trusting a project, downloading a model."""
