"""What front ends and the engine exchange, as plain data: requests, answers, evidence, events."""
