"""What the pages may load and whom they may talk to (docs/design.md, 6)."""

import json
from pathlib import Path
from typing import Final

HOSTING: Final = json.loads((Path(__file__).parents[3] / "firebase.json").read_text())["hosting"]


def policies() -> dict[str, dict[str, set[str]]]:
    """The policies by path, each taken apart."""
    return {
        rule["source"]: {
            name: set(values)
            for name, *values in (part.split() for part in header["value"].split(";"))
        }
        for rule in HOSTING["headers"]
        for header in rule["headers"]
        if header["key"] == "Content-Security-Policy"
    }


def test_the_console_may_talk_to_three_more_hosts_and_nothing_else_is_laxer() -> None:
    """Reading, signing in, the next ID token, photos, the manifest; no page has inline scripts."""
    found = policies()
    assert list(found) == ["**", "/console", "/mail"]  # the last one that matches has the say
    everywhere, console, mail = found.values()
    assert console.pop("connect-src") - everywhere.pop("connect-src") == {
        "https://firestore.googleapis.com",
        "https://identitytoolkit.googleapis.com",
        "https://securetoken.googleapis.com",
    }
    # Any host here; the page itself names those of PHOTO_HOSTS, which it is built with.
    assert console.pop("img-src") - everywhere.pop("img-src") == {"https:"}
    assert console.pop("frame-src") == console.pop("manifest-src") == {"'self'"}
    assert console == everywhere
    # A mail has no origin: any mail reads, calls, posts and leads nowhere.
    assert mail["sandbox"] == {"allow-scripts"}
    assert mail["style-src"] == {"'unsafe-inline'"}
    assert mail["default-src"] == mail["form-action"] == mail["base-uri"] == {"'none'"}
    assert not {"connect-src", "frame-src", "font-src"} & set(mail)
    assert everywhere["default-src"] == {"'none'"}
    assert everywhere["script-src"] == everywhere["style-src"] == {"'self'"}
