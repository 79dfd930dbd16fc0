"""The hosts that the pages may load from and connect to (docs/design.md, 6)."""

import json
from pathlib import Path
from typing import Final

HOSTING: Final = json.loads((Path(__file__).parents[3] / "firebase.json").read_text())["hosting"]


def policies() -> dict[str, dict[str, set[str]]]:
    """Return the directives of the policies by path."""
    return {
        rule["source"]: {
            name: set(values)
            for name, *values in (part.split() for part in header["value"].split(";"))
        }
        for rule in HOSTING["headers"]
        for header in rule["headers"]
        if header["key"] == "Content-Security-Policy"
    }


def test_the_console_only_adds_three_hosts_images_and_frames_to_the_policy() -> None:
    """The hosts are for reads, sign-in and ID tokens. No page has inline scripts."""
    found = policies()
    assert list(found) == ["**", "/console", "/mail"]  # the last one that matches applies
    everywhere, console, mail = found.values()
    assert console.pop("connect-src") - everywhere.pop("connect-src") == {
        "https://firestore.googleapis.com",
        "https://identitytoolkit.googleapis.com",
        "https://securetoken.googleapis.com",
    }
    # The header allows any host. The page is built with the hosts of PHOTO_HOSTS.
    assert console.pop("img-src") - everywhere.pop("img-src") == {"https:"}
    assert console.pop("frame-src") == console.pop("manifest-src") == {"'self'"}
    assert console == everywhere
    # The preview of an email has no origin, so that it cannot read, call, post or navigate.
    assert mail["sandbox"] == {"allow-scripts"}
    assert mail["style-src"] == {"'unsafe-inline'"}
    assert mail["default-src"] == mail["form-action"] == mail["base-uri"] == {"'none'"}
    assert not {"connect-src", "frame-src", "font-src"} & set(mail)
    assert everywhere["default-src"] == {"'none'"}
    assert everywhere["script-src"] == everywhere["style-src"] == {"'self'"}
