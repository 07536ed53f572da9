"""Coding agents: where each one keeps its hooks and its MCP servers, how it is asked and answered.

One row per agent in `agent_table.py`, from one module per agent. Nothing here judges code.
"""
