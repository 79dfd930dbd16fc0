"""The hosts whose photos may stand in a mail (parameter `PHOTO_HOSTS`).

A guest can write any address into a photo. The server of a picture learns who looks at it and when,
and may serve another picture than the approved one; so the project has to trust the host.
"""

from collections.abc import Iterable
from typing import Final, Self
from urllib.parse import unquote, urlsplit

ANY: Final = "*"
PROJECT: Final = "project"

_BUCKETS: Final = (
    "firebasestorage.googleapis.com/v0/b/{project}.firebasestorage.app/o/",
    "firebasestorage.googleapis.com/v0/b/{project}.appspot.com/o/",
    "storage.googleapis.com/{project}.firebasestorage.app/",
    "storage.googleapis.com/{project}.appspot.com/",
)
"""The project's own buckets: https://firebase.google.com/docs/storage/web/start"""


class PhotoHosts:
    """Decides which photo addresses may stand in a mail."""

    def __init__(self, prefixes: Iterable[str], *, any_host: bool = False) -> None:
        """`prefixes` are hosts, each with the beginning of a path or without one."""
        self._any_host = any_host
        self._paths: dict[str, list[str]] = {}
        for prefix in prefixes:
            host, slash, path = prefix.partition("/")
            self._paths.setdefault(host.lower(), []).append(slash + path)

    @classmethod
    def read(cls, text: str, project: str) -> Self:
        """Read the parameter: hosts with commas between; `project` for its buckets, `*` for any."""
        entries = [entry.strip() for entry in text.split(",") if entry.strip()]
        prefixes = [entry for entry in entries if entry not in (ANY, PROJECT)]
        if PROJECT in entries:
            prefixes += [bucket.format(project=project) for bucket in _BUCKETS]
        return cls(prefixes, any_host=ANY in entries)

    def allow(self, url: str) -> bool:
        """Whether the photo at the web address `url` may be shown."""
        if self._any_host:
            return True
        parts = urlsplit(url)
        paths = self._paths.get(parts.netloc.lower())  # with a port it is another server
        if parts.scheme != "https" or paths is None:
            return False
        # A browser resolves `..` before it sends the request, even as `%2e%2e`.
        steps = unquote(parts.path).split("/")
        if "." in steps or ".." in steps:
            return False
        return any(parts.path.startswith(path) for path in paths)
