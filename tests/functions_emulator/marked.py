"""Finds the processes of a service by their mark."""

import psutil

from tools.processes import MARK


def marked(mark: str) -> list[psutil.Process]:
    """Return the running processes with `mark`."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == mark:
                found.append(process)
        except psutil.Error:
            continue
    return found
