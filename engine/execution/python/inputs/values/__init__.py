"""Values for a parameter: from its hint, its default, its name, its uses, and the sizes that the code mentions."""
