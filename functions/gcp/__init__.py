"""Adapters for Google's services, except Firestore."""
