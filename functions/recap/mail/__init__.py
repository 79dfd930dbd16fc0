"""The recap mail: texts and pictures."""
