"""Handlers: convert a request, a task or a document write to a call of one use case."""
