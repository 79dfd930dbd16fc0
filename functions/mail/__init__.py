"""Email messages to many recipients, and the adapters of email providers."""
