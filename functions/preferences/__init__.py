"""Email preferences: the flags of an address, and the user records that store them."""
