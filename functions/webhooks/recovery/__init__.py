"""Sends again what a receiver has missed, by a standing order at its URL (spec 6.5)."""
