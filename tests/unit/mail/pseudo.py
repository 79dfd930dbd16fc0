"""An email in a pseudo-language, to find untranslated texts."""

import gettext

from functions.links.link import PreferencesLinks
from functions.mail.message import EmailMessage, MailSender
from functions.mail.translation import Texts
from functions.recap.audience.photos import Picture
from functions.recap.recap_arguments import Mode
from tests.unit.recap.recap_fixture import composer_of, recipient


class Pseudo(gettext.NullTranslations):
    """A pseudo-language: each text in brackets and half as long again."""

    def gettext(self, message: str) -> str:
        """Return the text in brackets."""
        return f"⟦{message}{'~' * (len(message) // 2)}⟧"

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        """Return the singular or the plural in brackets."""
        return self.gettext(msgid1 if n == 1 else msgid2)


def pseudo_mail(mode: Mode, message: str | None) -> EmailMessage:
    """Return a recap whose texts by people are between @."""
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
