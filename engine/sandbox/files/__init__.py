"""The workspace as a sandbox sees it, and the files that a run writes."""
