"""A mail in a language that nobody speaks."""

import gettext

from functions.links.link import PreferencesLinks
from functions.mail.message import EmailMessage, MailSender
from functions.mail.translation import Texts
from functions.recap.audience.photos import Picture
from functions.recap.recap_arguments import Mode
from tests.unit.recap.recap_fixture import composer_of, recipient


class Pseudo(gettext.NullTranslations):
    """A language that nobody speaks: each text in brackets, half as long again."""

    def gettext(self, message: str) -> str:
        """The text in brackets."""
        return f"⟦{message}{'~' * (len(message) // 2)}⟧"

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        """The form that fits, in brackets."""
        return self.gettext(msgid1 if n == 1 else msgid2)


def pseudo_mail(mode: Mode, message: str | None) -> EmailMessage:
    """A recap whose words of people stand between @."""
    picture = Picture("https://example.com/t", "https://example.com/p")
    composer = composer_of(
        mode,
        sender=MailSender(address="@operator@ <w@example.com>", address_line="@address@"),
        name="@event@",
        message=message,
        reel=[picture, picture],
        photo_count=9,
        texts=Texts("en", Pseudo()),
    )
    links = PreferencesLinks("https://example.com/l", "https://example.com/u")
    return composer.message([recipient([picture] * 9, name="@name@", photo_count=99, links=links)])
