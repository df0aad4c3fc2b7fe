"""What must never happen, tried: the whole controller on the API server in memory, in virtual time, with everything done to it that can be.

`python -m tests.safety` is the full run and prints what was done; the test suite does a small part of it.
"""
