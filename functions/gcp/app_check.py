"""Firebase App Check: whether a call comes from an app of this project.

https://firebase.google.com/docs/app-check/custom-resource-backend
"""

from typing import Final

import firebase_admin
import flask
import jwt
from firebase_admin import app_check

from functions.call_error import CallError, Code

HEADER: Final = "X-Firebase-AppCheck"
"""The header in which the Firebase SDKs send the token after App Check is initialised."""


def require(request: flask.Request, app: firebase_admin.App) -> None:
    """Refuse a call without a valid token of one of the project's apps.

    Raises:
        CallError: `unauthenticated`.
        PyJWKClientConnectionError: the public keys for tokens could not be fetched.
    """
    token = request.headers.get(HEADER)
    if not token:
        raise CallError(
            Code.UNAUTHENTICATED,
            f"Initialise App Check in your app: it sends its token in the header {HEADER}.",
        )
    try:
        app_check.verify_token(token, app=app)
    except jwt.PyJWKClientConnectionError:
        raise
    except (ValueError, jwt.PyJWTError, RecursionError):
        raise CallError(
            Code.UNAUTHENTICATED,
            "The App Check token is not valid (any more): register the app with App Check in this"
            " project, and fetch a new token.",
        ) from None
