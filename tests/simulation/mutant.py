"""Mutants: the code without one safeguard. The simulation must catch each mutant.

No file is edited: a mutant replaces a method while it is tested.
"""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Mutant:
    """The code without one safeguard.

    Attributes:
        name: Name of the mutant.
        left_out: The missing safeguard.
        of: The class or module of the replaced function.
        function: Name of the replaced function.
        instead: The replacement.
    """

    name: str
    left_out: str
    of: Any
    function: str
    instead: Any
