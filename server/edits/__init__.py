"""An answer as an edit: planned, written as LSP, verified and watched."""
