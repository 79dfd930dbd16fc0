"""What an organizer calls: try a URL, send deliveries again, rotate the secret."""
