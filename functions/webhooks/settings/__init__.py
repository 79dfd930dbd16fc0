"""The webhook settings of an event: its URLs, their event types, who is notified of failures."""
