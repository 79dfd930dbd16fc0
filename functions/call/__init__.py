"""Calls: errors, callers and arguments."""
