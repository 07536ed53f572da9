"""One OpenAI-compatible endpoint: requests, streams, faults, retries, cost."""
