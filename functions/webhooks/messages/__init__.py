"""What happened on the wall: event types, what a write means, payloads, who wants them."""
