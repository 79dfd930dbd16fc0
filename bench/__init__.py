"""Benchmarks of the service's costs."""
