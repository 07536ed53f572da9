"""`stet mcp`: the checks as tools of the Model Context Protocol, over standard input and output.

Tools read and judge; they edit nothing. No parameter names a command, lowers the sandbox or leaves the folder in which
the server was started. The protocol's SDK is imported by `server.py` alone, when the server starts.
"""
