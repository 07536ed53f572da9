"""Files and databases for parameters, with the contents that the code asks for."""
