"""Find the real driver; generate, compile and cache the shim that stands before it."""
