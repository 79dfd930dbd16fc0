"""What the mail looks like, narrow and wide, light and dark; pictures are left in `.emulator/`."""

import html
import re
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from emulator.mailbox import Mailbox
from tests.suite.call import Answer
from tests.suite.recap.wall import Wall

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
WIDTHS = (360, 800)
SCHEMES = {"light": 1, "dark": 0}
"""Chromium's numbers for `prefers-color-scheme`."""

MESSAGE = "Dear all,\nthank you for a wonderful evening! The wall stays open for a month."

_PAGE = """<!DOCTYPE html><meta charset="utf-8"><style>
body { margin: 0; display: flex; gap: 16px; background: #888; }
iframe { border: 0; flex-shrink: 0; } </style>
%s<pre id="widths"></pre><script>
addEventListener("load", () => {
  document.getElementById("widths").textContent = [...document.querySelectorAll("iframe")].map(
    (frame) => {
      const page = frame.contentDocument.documentElement;
      frame.style.height = page.scrollHeight + "px";
      return page.scrollWidth + "/" + frame.clientWidth;
    }).join(" ");
});
</script>"""


class _Site:
    """Serves the mail, and photos of several shapes; `missing` has it serve no photos."""

    def __init__(self) -> None:
        self.mail = ""
        self.missing = False
        site = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                """Print nothing."""

            def do_GET(self) -> None:
                kind, body = site.page(self.path)
                self.send_response(200 if body else 404)
                self.send_header("Content-Type", kind)
                self.end_headers()
                self.wfile.write(body.encode())

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def page(self, path: str) -> tuple[str, str]:
        """Content type and content."""
        if path == "/":
            frames = "".join(f'<iframe src="/mail" style="width:{w}px"></iframe>' for w in WIDTHS)
            return "text/html; charset=utf-8", _PAGE % frames
        if path == "/mail":
            return "text/html; charset=utf-8", self.mail
        found = re.fullmatch(r"/photos/(\d+)\.svg", path)
        return "image/svg+xml", _picture(int(found[1])) if found and not self.missing else ""


def _picture(number: int) -> str:
    width, height = ((400, 300), (300, 400), (400, 400), (480, 270))[number % 4]
    hue = number * 47 % 360
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">'
        f'<rect width="100%" height="100%" fill="hsl({hue},60%,65%)"/>'
        f'<circle cx="50%" cy="55%" r="22%" fill="hsl({(hue + 40) % 360},70%,45%)"/></svg>'
    )


@pytest.fixture
def site() -> Iterator[_Site]:
    """Where the browser finds everything."""
    made = _Site()
    thread = threading.Thread(target=made.server.serve_forever)
    thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()
    thread.join()


@pytest.mark.skipif(CHROMIUM is None, reason="needs a browser: apt install chromium")
@pytest.mark.parametrize("case", ["personal", "all", "images-off", "one-photo"])
def test_the_mail_fits_every_window(
    wall: Wall,
    mailbox: Mailbox,
    recap: Callable[..., Answer],
    site: _Site,
    tmp_path: Path,
    case: str,
) -> None:
    """Nothing is wider than the window, from a narrow phone on."""
    photo = {"uploaderEmail": "anna@example.com", "uploaderName": "Anna", "thumbUrl": None}
    count = 1 if case == "one-photo" else 11
    wall.photos(*(photo | {"url": f"{site.url}/photos/{n}.svg"} for n in range(count)))
    recap(mode="all" if case == "all" else "personal", message=MESSAGE)
    (mail,) = mailbox.mails
    site.mail, site.missing = mail.html, case == "images-off"
    for scheme, number in SCHEMES.items():
        picture = Path(".emulator").resolve() / f"recap-{case}-{scheme}.png"
        options = (f"--blink-settings=preferredColorScheme={number}", "--window-size=1180,1900")
        _browse(site.url, tmp_path, *options, f"--screenshot={picture}")
        page = _browse(site.url, tmp_path, *options, "--dump-dom")
        found = re.search(r'<pre id="widths">(.*?)</pre>', page)
        assert found
        widths = [tuple(map(int, one.split("/"))) for one in html.unescape(found[1]).split()]
        assert widths == [(width, width) for width in WIDTHS]


def _browse(url: str, profile: Path, *options: str) -> str:
    command = [
        str(CHROMIUM),
        *("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
        *("--disable-dev-shm-usage", "--disable-background-networking", "--no-first-run"),
        *(f"--user-data-dir={profile}", "--virtual-time-budget=5000"),
        *options,
        url,
    ]
    return subprocess.run(command, capture_output=True, check=True, timeout=60, text=True).stdout
