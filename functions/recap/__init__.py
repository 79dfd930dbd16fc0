"""The recap mail: one to every guest of an event, never two."""
