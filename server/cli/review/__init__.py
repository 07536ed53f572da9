"""`stet review`: the arguments, and the formats of its report."""
