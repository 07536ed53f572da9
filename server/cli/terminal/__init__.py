"""How results, progress and questions appear on a terminal."""
