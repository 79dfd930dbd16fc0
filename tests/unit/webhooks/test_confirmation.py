"""Who gets notices: addresses that have confirmed, so many a day (design 3.28)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest

from functions.consents.consent import ASKED_AGAIN_AFTER, State, consent_id
from functions.consents.links import Links
from functions.mail.letterhead import Letterhead
from functions.mail.message import EmailMessage
from functions.mail.outcome import Accepted, Refused, SendOutcome, Unknown
from functions.webhooks.notices.composer import question
from functions.webhooks.notices.confirmation import NOTICES, QUESTIONS, Confirmation, Kind
from tests.in_memory.consents import InMemoryConsents

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
ANN = "ann@example.com"
LINKS = Links(confirm="https://wall.example.com/notices#confirm=t", end="https://e.example/end")


@dataclass
class Desk:
    """Mails and counts of one day."""

    now: datetime = NOON
    outcome: SendOutcome = field(default_factory=lambda: Accepted("m1"))
    consents: InMemoryConsents = field(default_factory=InMemoryConsents)
    mails: list[EmailMessage] = field(default_factory=list)
    counted: Counter[tuple[str, str]] = field(default_factory=Counter)

    def willing(self, tenant: str = "acme", addresses: Sequence[str] = (ANN,)) -> list[str]:
        """Who gets a notice."""
        confirmation = Confirmation(
            consents=self.consents,
            counts=self._counts,
            mailer=lambda: self,
            question=lambda address, name: question(
                address, name, letterhead=Letterhead(sender="wall@example.com"), links=LINKS
            ),
            end_link=lambda _: LINKS.end,
            now=lambda: self.now,
        )
        return [one.address for one in confirmation.willing(tenant, addresses)]

    def confirm(self, tenant: str = "acme", address: str = ANN) -> None:
        """The owner of the address clicks."""
        self.consents.write(consent_id(tenant, address), State.CONFIRMED, self.now)

    def send(self, message: EmailMessage) -> SendOutcome:
        """Be the mail service."""
        self.mails.append(message)
        return self.outcome

    def _counts(self, kind: Kind, name: str, at_most: int) -> bool:
        self.counted[kind.name, name] += 1
        return self.counted[kind.name, name] <= at_most


def test_an_address_is_asked_once_and_gets_notices_once_it_has_confirmed() -> None:
    """Of each tenant by itself, however the address is spelt."""
    desk = Desk()
    assert [desk.willing(addresses=[one]) for one in (ANN, ANN, " Ann@Example.com")] == [[]] * 3
    assert len(desk.mails) == 1
    desk.confirm()
    assert desk.willing() == [ANN]
    assert desk.willing("another") == []
    assert len(desk.mails) == 2


def test_the_question_holds_no_word_of_people_and_every_way_out() -> None:
    """Two links of ours, one of them in the header for mail programs."""
    desk = Desk()
    desk.willing("a tenant's own words")
    [mail] = desk.mails
    [copy] = mail.copies
    assert "own words" not in mail.subject + mail.text + mail.html
    assert LINKS.confirm in mail.text
    assert LINKS.end in mail.text
    assert copy.headers["List-Unsubscribe"] == f"<{LINKS.end}>"
    assert copy.headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert copy.labels == {"wall_notice": consent_id("a tenant's own words", ANN)}


def test_somebody_who_has_ended_notices_is_never_asked_again() -> None:
    """An admin who names the address once more changes nothing."""
    desk = Desk()
    desk.confirm()
    assert desk.consents.end_known(consent_id("acme", ANN), NOON)
    desk.now += timedelta(days=400)
    assert desk.willing() == []
    assert desk.mails == []


def test_a_question_without_an_answer_is_repeated_once_its_link_has_ended() -> None:
    """And no earlier."""
    desk = Desk()
    desk.willing()
    desk.now += ASKED_AGAIN_AFTER - timedelta(seconds=1)
    desk.willing()
    assert len(desk.mails) == 1
    desk.now += timedelta(seconds=1)
    desk.willing()
    assert len(desk.mails) == 2


@pytest.mark.parametrize(
    ("outcome", "mails"), [(Refused("no"), 2), (Unknown("silence"), 1), (Accepted("m"), 1)]
)
def test_a_question_that_has_not_left_is_asked_again(outcome: SendOutcome, mails: int) -> None:
    """One that may have left is not."""
    desk = Desk(outcome=outcome)
    desk.willing()
    desk.willing()
    assert len(desk.mails) == mails


def test_an_address_gets_so_many_questions_a_day_from_all_tenants() -> None:
    """A tenant asks so many addresses a day."""
    desk = Desk()
    for number in range(QUESTIONS.to_an_address + 5):
        desk.willing(f"tenant-{number}")
    assert len(desk.mails) == QUESTIONS.to_an_address
    desk = Desk()
    for number in range(QUESTIONS.of_a_tenant + 5):
        desk.willing(addresses=[f"{number}@example.com"])
    assert len(desk.mails) == QUESTIONS.of_a_tenant


def test_an_address_gets_so_many_notices_a_day() -> None:
    """However many URLs and events fail; so many leave for a tenant."""
    desk = Desk()
    desk.confirm()
    told = [desk.willing() for _ in range(NOTICES.to_an_address + 5)]
    assert told.count([ANN]) == NOTICES.to_an_address
    desk = Desk()
    people = [f"{number}@example.com" for number in range(NOTICES.of_a_tenant + 5)]
    for address in people:
        desk.confirm(address=address)
    assert len(desk.willing(addresses=people)) == NOTICES.of_a_tenant
