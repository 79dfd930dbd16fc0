"""The preferences' store in Firestore."""
