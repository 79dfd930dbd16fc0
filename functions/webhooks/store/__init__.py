"""What the webhooks read and write in Firestore."""
