"""The webhook settings of an event: its URLs, their event types, and who is told of failures."""
