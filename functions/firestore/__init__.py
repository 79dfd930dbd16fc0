"""Firestore: documents as data, and the client that reads and writes documents."""
