"""Outbound webhooks: from a Firestore write to a signed request to every receiver."""
