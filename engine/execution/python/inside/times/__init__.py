"""How long calls take: all of them, in turns, and with larger arguments."""
