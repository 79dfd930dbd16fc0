"""Signed links: their tokens and keys, and the limit on calls."""
