"""A webhook receiver on this machine: HTTPS, scripted responses, verified signatures.

It stands in for a customer's server. It implements only the receiver side of the specification and
shares no code with the service.

    scripts = {"/flaky": fails(2)}
    with Receiver(certificates.SERVER, scripts=scripts, secret_of=lambda _: secret) as receiver:
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
