"""The version, written here alone. Asking the installed metadata for it would cost several times Python's own start (docs/adr/0001)."""

__version__ = "0.1.0"
