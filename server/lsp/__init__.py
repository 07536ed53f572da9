"""The wire: protocol, transports, conversions, what the client can do."""
