"""The recap's mail: its texts and its pictures."""
