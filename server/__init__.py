"""The front doors: the language server and the command line.

This is the only room that knows the protocol (pygls, lsprotocol). It never judges code and never talks to a model:
it turns what an editor says into a Request, and an Answer into an edit that lands where it was meant.
"""
