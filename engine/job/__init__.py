"""One job: what was asked, what it may spend, and what it spent."""
