"""The recap mail: exactly one mail to every guest of an event."""
