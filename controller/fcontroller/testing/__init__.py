"""Stand-ins for what a cluster has: an API server in memory and a kubelet that runs nothing. For the demo, and for tests."""
