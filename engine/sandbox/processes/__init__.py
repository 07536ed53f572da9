"""Process trees: started, watched and ended as a whole."""
