"""Process trees: started, monitored and ended as a whole."""
