"""What stands behind a signed link: its token, the keys, and the limit on anonymous calls."""
