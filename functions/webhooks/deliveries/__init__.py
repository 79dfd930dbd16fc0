"""Deliveries: records, destinations, the times of attempts, and redelivery."""
