"""The delivery status of recap mails, from the mail provider's reports (design 3.60)."""
