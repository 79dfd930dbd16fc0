"""The brake: while its document is there, guests neither upload nor list photos."""

from collections.abc import Mapping
from typing import Final

from functions.firestore.model import Documents, Put

BRAKE: Final = "service/brake"
"""The document that the rules of a project with a brake look at."""


def budget_told(documents: Documents, spending: Mapping[str, float]) -> None:
    """Close the brake where the budget is spent; most messages come before that.

    https://cloud.google.com/billing/docs/how-to/budgets-programmatic-notifications
    """
    if spending["costAmount"] >= spending["budgetAmount"]:
        documents.commit(Put(BRAKE, {"by": "the budget"}))
