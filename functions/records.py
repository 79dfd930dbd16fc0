"""Versions of records, and the refusals of a conditional write."""

from typing import Any, TypeAlias

Version: TypeAlias = Any
"""Of a record, as it was read: a write on this condition fails after any other write."""


class ChangedMeanwhileError(Exception):
    """A record was created, changed or deleted after it was read; nothing was written."""


class AlreadyRecordedError(ChangedMeanwhileError):
    """One of the records to create exists; nothing was written."""
