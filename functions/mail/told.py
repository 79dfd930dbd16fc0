"""One thing that a mail service tells of one mail."""

from collections.abc import Mapping
from dataclasses import dataclass

from functions.mail.fate import Fate


@dataclass(frozen=True, slots=True)
class Told:
    """What is told, and the labels that the mail went out with, if they are what they were."""

    fate: Fate
    labels: Mapping[str, object]
