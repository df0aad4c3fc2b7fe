"""The API server in memory behaves as a real one; and what only it has: time that a test sets."""
