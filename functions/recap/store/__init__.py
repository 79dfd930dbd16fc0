"""What the recap reads and writes in Firestore."""
