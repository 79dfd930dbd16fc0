"""A recap through a mail server (spec 4.10). Unit tests have the outcomes of both providers."""

from emulator.accounts import Account
from emulator.mailbox import Mailbox
from emulator.mailbox.smtp_server import SmtpServer
from emulator.port_numbers import SMTP_PORT, SMTP_URL
from tests.suite.call import Answer, call
from tests.suite.process import FunctionProcess
from tests.suite.wall_client import Wall, guest
from tools import local_secrets


def test_200_guests_each_have_one_email(wall: Wall, mailbox: Mailbox, organizer: Account) -> None:
    """Each email is complete, and a second call is in the cooldown."""
    wall.guests(200)
    with (
        SmtpServer(mailbox, local_secrets.read()["SMTP_PASSWORD"], port=SMTP_PORT),
        FunctionProcess("sendEventRecap", MAIL_URL=SMTP_URL) as process,
    ):

        def recap() -> Answer:
            at = f"http://127.0.0.1:{process.port}/"
            data = {"eventId": wall.id, "message": "Thank you!"}
            return call("", data, id_token=organizer.id_token, at=at)

        assert recap().result == {"sent": 200, "skipped": 0}
        assert recap().error[0] == "RESOURCE_EXHAUSTED"
    assert sorted(email.to for email in mailbox.emails) == sorted(guest(n) for n in range(200))
    for email in mailbox.emails:
        headers = {name.lower(): value for name, value in email.headers.items()}
        assert headers["list-unsubscribe"].startswith("<http://127.0.0.1:5000/unsubscribe?token=")
        assert headers["list-unsubscribe-post"] == "List-Unsubscribe=One-Click"
        assert headers["content-language"] == "en"
        assert headers["reply-to"] == "Photo Wall Team <hello@example.com>"
        assert "Thank you!" in email.text
        assert "Thank you!" in email.html
        assert email.text.count("/preferences#token=") == 1
        assert email.text.splitlines()[-1] == "Photo Wall, 1 Example Street, 12345 Example City"
    (recap_record,) = wall.recaps()
    counts = {name: recap_record[name] for name in ("state", "sent", "unknown", "left")}
    assert counts == {"state": "sent", "sent": 200, "unknown": 0, "left": 0}
    assert "mailServer" in recap_record
