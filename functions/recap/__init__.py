"""The recap: at most one email to each guest of an event."""
