"""E-mail preferences: the look-up, the links that lead to it, and a way to change one's mind."""
