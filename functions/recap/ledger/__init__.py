"""The lock of an event and the ledger of a recap (spec 3.3)."""
