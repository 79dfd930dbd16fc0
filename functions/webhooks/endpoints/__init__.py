"""Endpoints that fail: recovery, giving them up, and the mail about them."""
