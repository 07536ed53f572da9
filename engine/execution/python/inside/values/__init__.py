"""Values in the sandbox: made for a call, used by the code, and written as text afterwards."""
