"""What is kept of earlier verdicts: results of runs and whole reports, under keys of all that they depend on."""
