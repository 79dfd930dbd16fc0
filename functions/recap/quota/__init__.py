"""How many mails a tenant may send: by address, in all, and after complaints (spec 8)."""
