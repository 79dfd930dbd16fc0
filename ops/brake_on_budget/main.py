"""Closes the brake once the month's budget is spent.

https://cloud.google.com/billing/docs/how-to/budgets-programmatic-notifications
"""

import base64
import json
from typing import Any

import functions_framework
from cloudevents.http import CloudEvent
from google.cloud import firestore


@functions_framework.cloud_event
def close_on_budget(event: CloudEvent) -> None:
    """A message of the budget; it comes several times a day, most days below the budget."""
    told: Any = event.get_data()
    spending = json.loads(base64.b64decode(told["message"]["data"]))
    if spending["costAmount"] >= spending["budgetAmount"]:
        firestore.Client().document("service/brake").set({"by": "the budget"})
