"""The controller that runs Frameworks; installed and imported as `fcontroller`.

It is to observe, decide and act. `decide` is here: pure, and the only place where anything is decided. What observes and acts is not yet.
"""
