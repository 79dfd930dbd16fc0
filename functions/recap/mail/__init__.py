"""The mail: its texts, its pictures, and the service that takes it."""
