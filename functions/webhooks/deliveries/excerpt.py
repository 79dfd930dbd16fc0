"""How the body of an answer begins, as a delivery's record keeps it."""

from typing import Final

EXCERPT_BYTES: Final = 1024
"""Of UTF-8: what a developer at the receiver needs to see why."""

# Nothing of them shows, and some of them move what does. Line ends and tabs stay.
_CONTROLS: Final = dict.fromkeys({*range(32), *range(127, 160)} - {9, 10})


def excerpt(body: bytes) -> str | None:
    """Text of at most `EXCERPT_BYTES`, or None if no text is left.

    Bytes that are not UTF-8 are replaced, control characters left out.
    """
    text = body.decode(errors="replace").translate(_CONTROLS)
    return text.encode()[:EXCERPT_BYTES].decode(errors="ignore").strip() or None
