"""Handlers: from a request, a task or a document write to one call of a use case."""
