"""Commands for operators: set up, deploy to and watch a project."""
