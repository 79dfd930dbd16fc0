"""The console in a real browser."""

import uuid
from dataclasses import replace
from typing import Any, Final

import pytest

from emulator.accounts import sign_in
from tests.suite.browser import Driver
from tests.suite.wall_client import Wall

SITE: Final = "http://127.0.0.1:5000"
TENANT: Final = f"tenant-{uuid.uuid4().hex[:8]}"
"""A tenant that only the console's tests use. One page shows all of its events."""
PASSWORD: Final = "correct horse"

Login = dict[str, str]
"""Email address and password."""


class Browser:
    """Makes the journeys of this folder."""

    def __init__(self, driver: Driver) -> None:
        """Create it with an unused address, as Google's front end would report it."""
        digits = uuid.uuid4().int
        address = f"10.{digits & 255}.{digits >> 8 & 255}.{digits >> 16 & 255}"
        self._headers = {"X-Forwarded-For": address}
        self._driver = driver

    def make(self, journey: str, *, refusals: int | None = 0, **given: Any) -> Any:
        """Play a journey and return its result. `refusals` is its number of failed calls.

        None permits any number, for a page that tries again after some seconds.
        """
        answer = self._driver.make(f"console/{journey}", self._headers, site=SITE, **given)
        refused = [
            problem for problem in answer["problems"] if "Failed to load resource" in problem
        ]
        assert answer["problems"] == refused
        assert refusals in (None, len(refused))
        return answer["found"]


@pytest.fixture(scope="session")
def browser(driver: Driver) -> Browser:
    """Start the browser of the console."""
    return Browser(driver)


def staff(role: str | None, tenant: str | None = TENANT) -> Login:
    """Somebody of that role, as they sign in."""
    email = f"{role or 'nobody'}-{uuid.uuid4().hex[:8]}@example.com"
    sign_in(role, tenant, email=email, password=PASSWORD)
    return {"email": email, "password": PASSWORD}


@pytest.fixture(scope="session")
def admin() -> Login:
    """Return an admin of the event's tenant."""
    return staff("admin")


@pytest.fixture(scope="session")
def moderator() -> Login:
    """Return a moderator of that tenant."""
    return staff("moderator")


@pytest.fixture(scope="session")
def superadmin() -> Login:
    """Return a superadmin of that tenant."""
    return staff("superadmin")


@pytest.fixture(scope="session")
def stranger() -> Login:
    """Return an admin of another tenant."""
    return staff("admin", "tenant-b")


@pytest.fixture(scope="session")
def nobody() -> Login:
    """Somebody without a role."""
    return staff(None, None)


@pytest.fixture
def wall(wall: Wall) -> Wall:
    """Return an event of the console's tenant."""
    return replace(wall, tenant=TENANT)
