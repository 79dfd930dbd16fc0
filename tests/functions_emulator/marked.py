"""The processes of a suite, found by the mark that they all carry."""

import psutil

from tools.processes import MARK


def marked(mark: str) -> list[psutil.Process]:
    """The living processes that carry `mark`."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == mark:
                found.append(process)
        except psutil.Error:
            continue
    return found
