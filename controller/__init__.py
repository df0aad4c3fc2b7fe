"""The controller that runs Frameworks; installed and imported as `fcontroller`.

It is to observe, decide and act: `decide` is pure and lowers Frameworks with fcompile's own code, so that what was reviewed
is what runs. Nothing of it is here yet.
"""
