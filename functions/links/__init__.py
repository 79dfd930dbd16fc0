"""Signed links: kinds of links, and their tokens and keys."""
