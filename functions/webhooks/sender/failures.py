"""Why no answer came, in words that hold nothing of the request or the answer."""

import socket
import ssl
from collections.abc import Sequence
from typing import Final

from functions.webhooks.sender.connections import ANSWER_BYTES, TooMuchReadError

_REASONS: Final[Sequence[tuple[type[BaseException], str]]] = (
    (TimeoutError, "no answer within {seconds:g} s"),
    (socket.gaierror, "the host name does not resolve"),
    (ssl.SSLCertVerificationError, "the certificate is not valid: {error.verify_message}"),
    (ssl.SSLError, "the TLS handshake failed"),
    (ConnectionRefusedError, "the connection was refused"),
    (ConnectionError, "the connection was closed before the answer"),
    (OSError, "the host cannot be reached"),
    (TooMuchReadError, f"the answer's head is longer than {ANSWER_BYTES // 1024} KB"),
    (BaseException, "the answer is not HTTP"),
)


def reason(error: BaseException, seconds: float) -> str:
    """What `error` means, `seconds` being what the POST had."""
    text = next(text for kind, text in _REASONS if isinstance(error, kind))
    return text.format(error=error, seconds=seconds)
