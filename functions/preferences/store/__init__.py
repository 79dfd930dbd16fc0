"""What the preferences read and write in Firestore."""
