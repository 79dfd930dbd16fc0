"""A webhook receiver for this machine: HTTPS, scripted answers, verified signatures.

It stands where a customer's server stands, and so knows the specification's receiver side only;
it shares no code with the service that signs.

    with Receiver(certificates.SERVER, secret_of=lambda event_id: secret) as receiver:
        receiver.script("/flaky", fails(2))
        ...  # have the service call receiver.url("/flaky")
        receiver.wait_for(lambda seen: any(r.verified for r in seen), timeout=10)
"""

from emulator.receiver.answers import Answer, Script, always, fails, slow
from emulator.receiver.receiver import Receiver
from emulator.receiver.request import Request, describe
from emulator.receiver.signature import signature_problem

__all__ = [
    "Answer",
    "Receiver",
    "Request",
    "Script",
    "always",
    "describe",
    "fails",
    "signature_problem",
    "slow",
]
