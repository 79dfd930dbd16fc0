"""What became of the mails of a recap, as the mail service tells it (design 3)."""
