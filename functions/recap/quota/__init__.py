"""How many mails a tenant may send: by address, and in all (spec 8)."""
