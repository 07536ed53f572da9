"""`stet hook`: installs hooks into coding agents, and is what they call.

A hook never breaks an agent's turn: an error is shown to the user, and the agent continues.
"""
