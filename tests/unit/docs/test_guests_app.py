"""docs/guests-app.md: its Python programs run unchanged, with replacements for the libraries."""

import io
import re
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, Final

import pytest

ROOT: Final = Path(__file__).parents[3]
PAGE: Final = (ROOT / "docs/guests-app.md").read_text()
PATH: Final = "events/e/uid/p"
FILES: Final = "https://firebasestorage.googleapis.com/v0/b/bucket/o/"
LINK: Final = f"{FILES}events%2Fe%2Fuid%2Fp?alt=media&token=t"


class Cloud:
    """Files of one bucket, and the picture that Pillow would decode."""

    name = "bucket"

    def __init__(self, *, size: int = 1000, pixels: tuple[int, int] = (4000, 3000)) -> None:
        self.size = size
        self.pixels = pixels
        self.files: dict[str, bytes] = {PATH: b"picture"}
        self.formats: list[object] = []
        self.thumbnails: list[tuple[int, int]] = []

    def blob(self, name: str) -> SimpleNamespace:
        """Return the file with this name."""

        def upload(data: bytes, content_type: str) -> None:
            assert content_type in {"image/jpeg", "text/plain"}
            self.files[name] = data

        return SimpleNamespace(
            name=name,
            size=self.size,
            download_as_bytes=lambda: self.files[name],
            upload_from_string=upload,
        )

    def get_blob(self, name: str) -> SimpleNamespace | None:
        """Return the file with this name, or None without one."""
        return self.blob(name) if name in self.files else None

    def open(self, data: io.BytesIO, formats: object = None) -> SimpleNamespace:
        """Decode the header of a picture."""
        assert data.getvalue() == b"picture"
        self.formats.append(formats)
        width, height = self.pixels
        return SimpleNamespace(
            width=width,
            height=height,
            thumbnail=self.thumbnails.append,
            convert=lambda _: SimpleNamespace(save=lambda out, *_, **__: out.write(b"small")),
        )


def program(name: str, cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the function `name` of the page."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    [code] = [block for block in blocks if f"def {name}(" in block]

    def unchanged(**_: object) -> Any:
        return lambda function: function

    modules: dict[str, dict[str, object]] = {
        "firebase_admin": {
            "initialize_app": lambda: None,
            "storage": SimpleNamespace(bucket=lambda: cloud),
        },
        "firebase_functions": {},
        "firebase_functions.firestore_fn": {
            "on_document_created": unchanged,
            "on_document_deleted": unchanged,
        },
        "PIL": {
            "Image": SimpleNamespace(open=cloud.open),
            "ImageOps": SimpleNamespace(exif_transpose=lambda picture: picture),
        },
    }
    for module, contents in modules.items():
        replacement = ModuleType(module)
        for attribute, value in contents.items():
            setattr(replacement, attribute, value)
        monkeypatch.setitem(sys.modules, module, replacement)
    found: dict[str, Any] = {}
    exec(compile(code, "docs/guests-app.md", "exec"), found)  # noqa: S102 - the page's own program
    return found[name]


def event(changes: list[dict[str, str]], url: str = LINK) -> SimpleNamespace:
    """Return the trigger's event of the photo `p`, whose updates are appended to `changes`."""
    fields = {"uploaderUid": "uid", "url": url}
    data = SimpleNamespace(reference=SimpleNamespace(update=changes.append), get=fields.get)
    return SimpleNamespace(id="token", params={"eventId": "e", "photoId": "p"}, data=data)


def test_the_trigger_adds_a_small_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pillow may decode only four formats."""
    cloud, changes = Cloud(), list[dict[str, str]]()
    program("make_small_picture", cloud, monkeypatch)(event(changes))
    assert changes == [{"thumbUrl": f"{FILES}events%2Fe%2Fuid%2Fp-small?alt=media&token=token"}]
    assert cloud.files[f"{PATH}-small"] == b"small"
    assert cloud.formats == [("JPEG", "PNG", "WEBP", "GIF")]
    assert cloud.thumbnails == [(640, 640)]


@pytest.mark.parametrize(
    ("cloud", "url"),
    [
        (Cloud(pixels=(30_000, 30_000)), LINK),
        (Cloud(pixels=(50_000_001, 1)), LINK),
        (Cloud(size=21 * 1024 * 1024), LINK),
        (Cloud(), "https://example.com/other.jpg"),
        (Cloud(), LINK.replace("Fp?", "Fq?")),
        (Cloud(), LINK.replace("/b/bucket/", "/b/other/")),
        (Cloud(), LINK.replace("Fp?", "Fp-large?")),
    ],
)
def test_the_trigger_ignores_large_pictures_and_other_files(
    cloud: Cloud, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A small file can unpack to gigabytes. Moderators see only `url`."""
    changes = list[dict[str, str]]()
    program("make_small_picture", cloud, monkeypatch)(event(changes, url))
    assert (changes, cloud.thumbnails, set(cloud.files)) == ([], [], {PATH})


def test_a_deleted_photo_leaves_empty_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the path were free, another picture could get the approved link."""
    cloud = Cloud()
    program("empty_files", cloud, monkeypatch)(event([]))
    assert cloud.files == {PATH: b"", f"{PATH}-small": b""}


def test_the_rules_of_storage_allow_no_second_upload() -> None:
    """An approved picture must not change."""
    [rules] = re.findall(r"```\n(rules_version.*?)```", PAGE, re.DOTALL)
    assert re.findall(r"allow ([^:]+):", rules) == ["get", "create"]
    assert "&& resource == null" in rules


def test_the_blocks_of_the_app_have_their_imports() -> None:
    """Readers copy the blocks in order."""
    blocks = re.findall(r"```javascript \w+\n(.*?)```", PAGE, re.DOTALL)
    imported = set(re.findall(r"\w+", " ".join(re.findall(r"import \{(.*?)\}", blocks[0]))))
    called = set(re.findall(r"(?<![.\w])([a-z]\w+)\(", " ".join(blocks)))
    assert called <= imported
