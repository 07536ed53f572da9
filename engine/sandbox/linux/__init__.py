"""Linux' own mechanisms: Landlock, seccomp, limits of the kernel."""
