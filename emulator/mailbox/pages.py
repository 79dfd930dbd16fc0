"""The mailbox's pages: the list of emails, and each email as its reader sees it."""

import html
import json
from collections.abc import Sequence
from typing import Any

from emulator import pictures
from emulator.mailbox.emails import Email

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
<h1>Mailbox</h1><p>Emails that would have been sent, newest first.</p>
<table><thead><tr><th>At (UTC)<th>To<th>Subject</thead><tbody>{{rows}}</tbody></table>
</body></html>"""

_SHOWN = 500


def overview(emails: Sequence[Email]) -> str:
    """Return the page with the list of emails."""
    return _PAGE.replace("{rows}", _rows(emails))


def html_part(email: Email) -> str:
    """Return an email's HTML part, with the pictures of sample photos."""
    # Links open in a new tab, as in email programs. Many pages don't load in a frame anyway.
    page = email.html.replace("<head>", '<head><base target="_blank">', 1)
    return page.replace(pictures.BUCKET, pictures.DRAWN)


def _rows(emails: Sequence[Email]) -> str:
    rows = "".join(
        f"<tr><td>{email.at:%H:%M:%S}<td>{html.escape(email.to)}"
        f'<td><a href="/mails/{email.number}">{html.escape(email.subject)}</a>'
        for email in reversed(emails[-_SHOWN:])
    )
    if len(emails) > _SHOWN:
        rows += f'<tr><td colspan="3">and {len(emails) - _SHOWN} older emails'
    return rows or '<tr><td colspan="3">No emails yet.'


def email_page(email: Email) -> str:
    """Return the page of one email: headers, both parts, and the request's entry."""
    headers = {
        "From": email.sender,
        "To": email.to,
        "Subject": email.subject,
        **email.headers,
        "X-Message-Id": email.message_id,
    }
    rows = "".join(
        f"<tr><th>{html.escape(name)}<td>{html.escape(value)}" for name, value in headers.items()
    )
    raw = json.dumps(email.personalization, indent=2, ensure_ascii=False)
    title = html.escape(email.subject)
    return f"""<!DOCTYPE html><html lang="en"><head><title>{title}</title>{_STYLE}</head><body>
<p><a href="/">All emails</a></p><h1>{title}</h1><table><tbody>{rows}</tbody></table>
<h2>HTML</h2><p><a href="/mails/{email.number}.html">Full page</a></p>
<iframe sandbox="allow-popups allow-popups-to-escape-sandbox" title="HTML part"
 src="/mails/{email.number}.html"></iframe>
<h2>Text</h2><pre>{html.escape(email.text)}</pre>
<h2>In the request</h2><pre>{html.escape(raw)}</pre>
</body></html>"""


def as_json(email: Email) -> dict[str, Any]:
    """Return an email as a JSON object."""
    return {
        "number": email.number,
        "at": email.at.isoformat(),
        "messageId": email.message_id,
        "to": email.to,
        "from": email.sender,
        "subject": email.subject,
        "text": email.text,
        "html": email.html,
        "headers": dict(email.headers),
    }
