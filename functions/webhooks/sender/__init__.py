"""HTTP client for receivers: addresses, connections and responses."""
