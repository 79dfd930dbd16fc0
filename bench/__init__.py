"""What the service costs: benches of its parts, and of the whole."""
