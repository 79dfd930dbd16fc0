"""The rules of a call: its errors, its caller and its arguments."""
