"""Attempts of deliveries: the worker, the health of its receivers, the sweep of lost tasks."""
