"""The hosts whose photos may stand in a mail (parameter `PHOTO_HOSTS`).

A guest can write any address into a photo. The server of a picture learns who looks at it and when,
and may serve another picture than the approved one; so the project has to trust the host.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self
from urllib.parse import unquote, urlsplit

from functions.recap.audience.photos import host_of

ANY: Final = "*"
PROJECT: Final = "project"

_BUCKETS: Final = (
    "firebasestorage.googleapis.com/v0/b/{project}.firebasestorage.app/o/",
    "firebasestorage.googleapis.com/v0/b/{project}.appspot.com/o/",
    "storage.googleapis.com/{project}.firebasestorage.app/",
    "storage.googleapis.com/{project}.appspot.com/",
)
"""The project's own buckets: https://firebase.google.com/docs/storage/web/start"""


@dataclass(frozen=True, slots=True)
class PhotoHosts:
    """Decides which photo addresses may stand in a mail.

    `paths` are the beginnings of paths that each host may have.
    """

    paths: Mapping[str, Sequence[str]]
    any_host: bool

    @classmethod
    def read(cls, text: str, project: str) -> Self:
        """Read the parameter: hosts with commas between; `project` for its buckets, `*` for any.

        A host may have the beginning of a path.
        """
        entries = {entry.strip() for entry in text.split(",")}
        buckets = {bucket.format(project=project) for bucket in _BUCKETS if PROJECT in entries}
        paths: dict[str, list[str]] = defaultdict(list)
        for prefix in (entries | buckets) - {"", ANY, PROJECT}:
            host, slash, path = prefix.partition("/")
            paths[host.lower().removesuffix(":443")].append(slash + path)
        return cls(paths, ANY in entries)

    def allow(self, url: str) -> bool:
        """Whether the photo at the web address `url` may be shown."""
        if self.any_host:
            return True
        parts = urlsplit(url)
        paths = self.paths.get(host_of(url), ())  # with another port it is another server
        # A browser resolves `..` before it sends the request, even as `%2e%2e`.
        is_direct = {".", ".."}.isdisjoint(unquote(parts.path).split("/"))
        return parts.scheme == "https" and is_direct and parts.path.startswith(tuple(paths))
