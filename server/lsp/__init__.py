"""The protocol layer: messages, transports, conversions, client capabilities."""
