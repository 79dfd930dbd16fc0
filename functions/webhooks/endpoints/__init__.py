"""Failing endpoints: automatic recovery, disabling, and email notices."""
