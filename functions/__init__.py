"""Webhooks, recap emails and email preferences of the photo wall."""
