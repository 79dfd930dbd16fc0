"""Mail: a message to many, and the one module that knows a mail service."""
