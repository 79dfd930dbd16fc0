"""Mail: messages to many recipients, and the modules of the mail provider."""
