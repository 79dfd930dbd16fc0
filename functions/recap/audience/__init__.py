"""The guests of an event, their photos and their user records."""
