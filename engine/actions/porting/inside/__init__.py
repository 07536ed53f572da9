"""What runs in the sandbox: for each side a program that calls the functions of its module and reports the results."""
