"""The POST to a receiver: addresses, connections, answers."""
