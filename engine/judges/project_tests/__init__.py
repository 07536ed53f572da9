"""The project's own tests that touch a target: found by what they import and name, run before and after."""
