"""A review of a change by any author: the judges of `stet verify`, the measures of tools, and a reviewer's findings."""
