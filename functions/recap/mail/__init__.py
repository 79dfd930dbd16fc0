"""The recap email: its texts and pictures."""
