"""How Pods fail, and what that makes of an attempt: `podFailureSpec`, finished Pods, Pods that cannot be created."""
