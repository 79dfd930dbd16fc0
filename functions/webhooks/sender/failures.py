"""Why no answer came, in words that hold nothing of the request or the answer."""

import socket
import ssl
from typing import Final, TypeAlias

from functions.webhooks.sender.answer_head import ANSWER_BYTES, NotHttpError
from functions.webhooks.sender.connections import TooMuchReadError

FAILURES: Final = (OSError, ValueError, TooMuchReadError, NotHttpError)
"""What a POST may come to instead of a status; TimeoutError and ssl.SSLError are OSErrors."""

Failure: TypeAlias = OSError | ValueError | TooMuchReadError | NotHttpError


def reason(error: Failure, timeout_seconds: float) -> str:  # noqa: PLR0911 - a table
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
