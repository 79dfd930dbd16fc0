"""Deliveries and their attempts: the record, its task, its signature, its retry schedule."""
