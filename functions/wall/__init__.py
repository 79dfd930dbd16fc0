"""The photo wall as its documents tell of it: photos, events, and what people write there."""
