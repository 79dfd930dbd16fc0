"""Deliveries: the record, its tasks, its retry schedule and pace, and its redelivery."""
