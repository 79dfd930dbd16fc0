"""An event with its organizers and receivers."""

from tests.suite.actions.conftest import admin, configure, named, record

__all__ = ["admin", "configure", "named", "record"]
