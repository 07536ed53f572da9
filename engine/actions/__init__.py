"""One file per action: what it asks for, which judges check it, how its answer is assembled. It only proposes."""
