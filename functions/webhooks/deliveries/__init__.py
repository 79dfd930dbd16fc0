"""Deliveries: the record, where and when its attempts go, and how it is queued again."""
