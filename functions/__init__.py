"""The photo wall's webhooks, recap mail and e-mail preferences."""
