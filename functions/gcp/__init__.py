"""Thin adapters to Google's services; nothing else in the project talks to them."""
