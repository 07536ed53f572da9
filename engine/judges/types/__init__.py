"""The project's own type checker, run on the text before and after an edit: only new errors count."""
