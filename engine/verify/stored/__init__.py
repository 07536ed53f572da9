"""What is kept of earlier conclusions: results of runs and whole reports, under keys of all that they depend on."""
