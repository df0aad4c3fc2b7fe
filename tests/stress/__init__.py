"""The controller's process on a real API server, while others do what they may to stop, slow or deceive it: `python -m tests.stress`."""
