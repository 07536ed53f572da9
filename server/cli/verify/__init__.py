"""`stet verify`: the arguments, and the formats of its report."""
