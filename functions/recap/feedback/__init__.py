"""What became of recap mails: the mail provider's reports (design 3.60)."""
