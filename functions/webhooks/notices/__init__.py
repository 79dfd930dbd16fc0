"""Mails that tell an event's people when a webhook URL fails, and when it works again."""
