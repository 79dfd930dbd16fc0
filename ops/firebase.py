"""Access to accounts and documents of a project, or of the emulators, as the operator."""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol

import firebase_admin
from firebase_admin import auth
from firebase_admin.exceptions import FirebaseError
from google.api_core.exceptions import GoogleAPIError
from google.auth.exceptions import GoogleAuthError
from google.oauth2.credentials import Credentials

from functions.firestore.client import FirestoreDocuments
from functions.firestore.model import ChangedMeanwhileError, Documents, Write

FAILURES: Final = (FirebaseError, GoogleAPIError, GoogleAuthError)
"""Errors of the libraries that end a script with their message."""
_BATCH: Final = 500
_USERS_PER_CALL: Final = 100
_TOKEN_LIVES: Final = timedelta(minutes=10)
"""Time between requests for a token to `gcloud`, which refreshes tokens."""


class Operator(Protocol):
    """A project and the credentials of the person who runs a script."""

    project: str

    def new_token(self) -> str:
        """Return an access token."""


@contextmanager
def app(cloud: Operator) -> Iterator[firebase_admin.App]:
    """Create a temporary app for `firebase_admin.auth`."""
    made = firebase_admin.initialize_app(
        signed_in(cloud), {"projectId": cloud.project}, name=f"ops {cloud.project}"
    )
    try:
        yield made
    finally:
        firebase_admin.delete_app(made)


def verified_addresses(cloud: Operator, uids: Collection[str]) -> Mapping[str, str]:
    """Return the verified addresses of these users, by user id."""
    identifiers = [auth.UidIdentifier(uid) for uid in sorted(uids)]
    pages = range(0, len(identifiers), _USERS_PER_CALL)
    with app(cloud) as project:
        found = [
            user
            for start in pages
            for user in auth.get_users(identifiers[start : start + _USERS_PER_CALL], project).users
        ]
    return {user.uid: user.email for user in found if user.email and user.email_verified}


def documents(cloud: Operator) -> Documents:
    """Return the documents of the project."""
    if emulator := os.environ.get("FIRESTORE_EMULATOR_HOST"):
        return FirestoreDocuments.at_emulator(emulator, cloud.project)
    return FirestoreDocuments.at_google(signed_in(cloud), cloud.project)


def write_each(documents: Documents, writes: Sequence[Write]) -> int:
    """Commit each write separately. Return the number of writes not overtaken by other changes."""
    written = 0
    for start in range(0, len(writes), _BATCH):
        for answer in documents.write_each(writes[start : start + _BATCH]):
            if not isinstance(answer, Exception):
                written += 1
            elif not isinstance(answer, ChangedMeanwhileError):
                raise answer
    return written


def signed_in(cloud: Operator) -> Credentials:
    """Return credentials of the `gcloud` account, with calls billed to the project."""

    def renew(*_: object, **__: object) -> tuple[str, datetime]:
        return cloud.new_token(), datetime.now(UTC).replace(tzinfo=None) + _TOKEN_LIVES

    return Credentials(None, refresh_handler=renew, quota_project_id=cloud.project)  # type: ignore[no-untyped-call]
