"""Endpoints that fail: what is recorded of each, and what follows from it."""
