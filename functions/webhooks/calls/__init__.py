"""What people call: organizers, and the bearers of links to a log."""
