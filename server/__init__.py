"""The entry points: the language server and the command line.

Only this package knows the protocol (pygls, lsprotocol). It never judges code and never talks to a model: it turns an
editor's requests into a Request, and an Answer into an edit at the right place.
"""
