"""Versions of records, and the two ways in which a conditional write is refused."""

from typing import Any, TypeAlias

Version: TypeAlias = Any
"""Of a record, as it was read: a write on this condition fails after any other write."""


class AlreadyRecordedError(Exception):
    """One of the records to create exists; none was written."""


class ChangedMeanwhileError(Exception):
    """The record was changed or deleted after it was read; nothing was written."""
