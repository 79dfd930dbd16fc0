"""Signed links: their tokens and keys, and the admission of calls with a link."""
