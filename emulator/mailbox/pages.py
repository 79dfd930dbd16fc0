"""The mailbox to look at: all mails, and each one as its reader would see it."""

import html
import json
from collections.abc import Sequence
from typing import Any

from emulator import pictures
from emulator.mailbox.emails import Mail

_STYLE = """
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<style>
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th { white-space: nowrap; }
td, th { text-align: start; padding: .4rem .6rem; border-bottom: 1px solid #8886;
  vertical-align: top; }
td { overflow-wrap: anywhere; }
iframe { width: 100%; height: 46rem; border: 1px solid #8886; background: #fff; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; border: 1px solid #8886; padding: .8rem; }
</style>
"""

_PAGE = f"""<!DOCTYPE html><html lang="en"><head><title>Mailbox</title>{_STYLE}</head><body>
<h1>Mailbox</h1><p>Mails that would have been sent, newest first.</p>
<table><thead><tr><th>At (UTC)<th>To<th>Subject</thead><tbody>{{rows}}</tbody></table>
</body></html>"""

_SHOWN = 500


def overview(mails: Sequence[Mail]) -> str:
    """Return the page of all mails."""
    return _PAGE.replace("{rows}", _rows(mails))


def alone(mail: Mail) -> str:
    """Return a mail's HTML part, its made-up photos drawn."""
    # As mail programs do: a link opens outside, and many pages refuse a frame anyway.
    page = mail.html.replace("<head>", '<head><base target="_blank">', 1)
    return page.replace(pictures.BUCKET, pictures.DRAWN)


def _rows(mails: Sequence[Mail]) -> str:
    rows = "".join(
        f'<tr><td>{mail.at:%H:%M:%S}<td>{html.escape(mail.to)}<td><a href="/mails/{mail.number}">'
        f"{html.escape(mail.subject)}</a>"
        for mail in reversed(mails[-_SHOWN:])
    )
    if len(mails) > _SHOWN:
        rows += f'<tr><td colspan="3">and {len(mails) - _SHOWN} older ones'
    return rows or '<tr><td colspan="3">Nothing yet.'


def mail_page(mail: Mail) -> str:
    """Return the page of one mail: headers, both parts, and what the request said."""
    headers = {
        "From": mail.sender,
        "To": mail.to,
        "Subject": mail.subject,
        **mail.headers,
        "X-Message-Id": mail.message_id,
    }
    rows = "".join(
        f"<tr><th>{html.escape(name)}<td>{html.escape(value)}" for name, value in headers.items()
    )
    raw = json.dumps(mail.personalization, indent=2, ensure_ascii=False)
    title = html.escape(mail.subject)
    return f"""<!DOCTYPE html><html lang="en"><head><title>{title}</title>{_STYLE}</head><body>
<p><a href="/">All mails</a></p><h1>{title}</h1><table><tbody>{rows}</tbody></table>
<h2>HTML</h2><p><a href="/mails/{mail.number}.html">Alone</a></p>
<iframe sandbox="allow-popups allow-popups-to-escape-sandbox" title="HTML part"
 src="/mails/{mail.number}.html"></iframe>
<h2>Text</h2><pre>{html.escape(mail.text)}</pre>
<h2>In the request</h2><pre>{html.escape(raw)}</pre>
</body></html>"""


def as_json(mail: Mail) -> dict[str, Any]:
    """Return a mail for programs."""
    return {
        "number": mail.number,
        "at": mail.at.isoformat(),
        "messageId": mail.message_id,
        "to": mail.to,
        "from": mail.sender,
        "subject": mail.subject,
        "text": mail.text,
        "html": mail.html,
        "headers": dict(mail.headers),
    }
