"""Email preferences: lookup, links, opt-out and opt-in."""
