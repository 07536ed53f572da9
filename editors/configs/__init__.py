"""Configurations to paste, one file per editor; `stet editor NAME` prints them."""
