"""`sendEventRecap` with ten mails a request and fifty a call: the same ledger for a hundredth."""

import functools
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

from emulator.cloud.entry import sendEventRecap
from functions import process
from functions.mail.sendgrid import SendGridMailer
from functions.parameters import Parameters
from functions.recap import dispatch

SendGridMailer.recipients_per_request = 10
_SMALL = functools.partial(Parameters, recipients_per_recap=50)
setattr(dispatch, "SMALL_BATCH", 1)  # noqa: B010 - ten emails represent a thousand
setattr(process, "Parameters", _SMALL)  # noqa: B010 - fifty guests represent 5,000

__all__ = ["sendEventRecap"]
