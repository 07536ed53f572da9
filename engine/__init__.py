"""Turns a Request into an Answer. Plain data in and out.

This package does not know editors or the protocol: no pygls, no lsprotocol, no position that is not a byte offset.
"""
