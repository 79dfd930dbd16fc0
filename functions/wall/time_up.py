"""The error of work that goes on in the next run."""


class TimeUpError(Exception):
    """Time was up; the next run goes on."""
