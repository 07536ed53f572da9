"""A module of one language written again in another: judged by running both on the same inputs, and by ported tests."""
