"""The recap's stores in Firestore."""
