"""A function that is deployed by itself, where somebody wants it: docs/operations.md says how."""
