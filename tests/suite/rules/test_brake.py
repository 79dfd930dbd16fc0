"""The brake: the document `service/brake` closes uploads and lists for guests."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from ops import braking
from tests.suite.operator_scripts import outside
from tests.suite.rules.client import ADMINISTRATOR, PROJECT, Client, load_rules
from tests.suite.rules.samples import approval, photo, upload

Brake = Callable[[str], int]


@pytest.fixture
def braked(rules: str) -> Iterator[str]:
    """Apply the rules of a project with a brake during the test."""
    text = rules.replace(braking.OFF, braking.ON)
    assert text != rules
    load_rules(text)
    yield text
    load_rules(rules)
    ADMINISTRATOR.delete("service/brake")


@pytest.fixture
def brake(tmp_path: Path) -> Brake:
    """Run `ops/brake` in a checkout of those rules, against the Firestore of these tests."""
    address = f"http://{os.environ['FIRESTORE_EMULATOR_HOST']}"
    reached = outside(address, root=tmp_path)
    return lambda what: braking.main([PROJECT, what], reached)


def open_doors(guest: Client, wall: str) -> set[str]:
    """Return which of three things a guest may do."""
    doors = {
        "upload": guest.replace(f"{wall}/photos/new", upload(guest)),
        "own photos": guest.list(f"{wall}/photos", uploaderUid=guest.uid),
        "wall": guest.list(f"{wall}/wall"),
    }
    ADMINISTRATOR.delete(f"{wall}/photos/new")
    return {door for door, is_open in doors.items() if is_open}


ALL_DOORS: Final = {"upload", "own photos", "wall"}


def test_an_operator_sets_and_releases_the_brake(
    braked: str, brake: Brake, guest: Client, moderator: Client, wall: str, tmp_path: Path
) -> None:
    """Staff go on moderating, and guests still get and delete their own photos."""
    (tmp_path / "firestore.rules").write_text(braked)
    ADMINISTRATOR.replace(f"{wall}/photos/p", photo(guest))
    assert open_doors(guest, wall) == ALL_DOORS

    assert brake("close") == 0

    assert open_doors(guest, wall) == set()
    assert moderator.list(f"{wall}/photos")
    assert moderator.update(f"{wall}/photos/p", approval(moderator))
    assert guest.get(f"{wall}/photos/p")
    assert guest.delete(f"{wall}/photos/p")

    assert brake("open") == 0
    assert open_doors(guest, wall) == ALL_DOORS
    assert brake("open") == 0, "open already"


def test_the_brake_has_no_effect_without_its_rules(
    rules: str,
    brake: Brake,
    guest: Client,
    wall: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The brake is off by default, and the command names the missing rule."""
    (tmp_path / "firestore.rules").write_text(rules)
    ADMINISTRATOR.replace("service/brake", {"by": "somebody"})

    assert brake("close") == 1
    assert braking.ON in capsys.readouterr().err
    assert open_doors(guest, wall) == ALL_DOORS
    ADMINISTRATOR.delete("service/brake")
