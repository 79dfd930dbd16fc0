"""Outbound webhooks: from a Firestore write to a signed POST at every receiver."""
