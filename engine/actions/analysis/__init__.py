"""The measurements, the findings and the report of `analyze`."""
