"""Where a delivery goes: the URL, its addresses, and the POST itself."""
