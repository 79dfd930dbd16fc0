"""The two answers to a conditional write that a store handles.

Any other exception of a call means that it failed, and that its writes may have been made all the
same; nothing but a log line asks which.
"""


class ChangedMeanwhileError(Exception):
    """A document was created, changed or deleted after it was read; nothing was written."""


class AlreadyRecordedError(ChangedMeanwhileError):
    """One of the documents to create exists; nothing was written."""
