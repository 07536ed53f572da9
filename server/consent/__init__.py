"""Questions before a job continues: running code, trusting a project, downloading a model."""
