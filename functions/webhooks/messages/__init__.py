"""Event types, the writes that mean them, and their payloads."""
