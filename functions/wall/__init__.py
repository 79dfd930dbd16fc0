"""The photo wall: its events and photos, the public copies of photos, and data retention."""
