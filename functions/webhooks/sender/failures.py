"""Why no answer came, in words that hold nothing of the request or the answer."""

import http.client
import socket
import ssl
from typing import Final

from urllib3.exceptions import HTTPError

from functions.webhooks.sender.connections import ANSWER_BYTES, TooMuchReadError

FAILURES: Final = (OSError, ValueError, TooMuchReadError, http.client.HTTPException, HTTPError)
"""What a POST may come to instead of a status; TimeoutError, ssl.SSLError and what `requests`
raises are OSErrors."""


def causes(error: BaseException) -> list[BaseException]:
    """The error, and what each was raised for: the last one is what happened."""
    chain = [error]
    while further := chain[-1].__cause__ or chain[-1].__context__:
        chain.append(further)
    return chain


def reason(error: BaseException, timeout_seconds: float) -> str:  # noqa: PLR0911 - a table
    """What `error` means, `timeout_seconds` being what the POST had."""
    match error:
        case TimeoutError():
            return f"no answer within {timeout_seconds:g} s"
        case socket.gaierror():
            return "the host name does not resolve"
        case ssl.SSLCertVerificationError():
            return f"the certificate is not valid: {error.verify_message}"
        case ssl.SSLError():
            return "the TLS handshake failed"
        case ConnectionRefusedError():
            return "the connection was refused"
        case ConnectionError():
            return "the connection was closed before the answer"
        case OSError():
            return "the host cannot be reached"
        case TooMuchReadError():
            return f"the answer's head is longer than {ANSWER_BYTES // 1024} KB"
        case _:
            return "the answer is not HTTP"
