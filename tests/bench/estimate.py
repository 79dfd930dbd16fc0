"""An event with 100,000 guests on paper."""


def show() -> None:
    """Print."""
