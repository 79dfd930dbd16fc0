"""Mails that tell an event's people of an endpoint that fails, and that it works again."""
