"""Linux' own means: Landlock, seccomp, limits of the kernel."""
