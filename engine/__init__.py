"""Turns a Request into an Answer. Plain data in and out.

This room never knows an editor or the protocol: no pygls, no lsprotocol, no position that is not a byte offset.
"""
