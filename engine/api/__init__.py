"""The data that front ends and the engine exchange: requests, answers, evidence, events."""
