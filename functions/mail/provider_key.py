"""The secret that authenticates the service to its email provider."""

import re

from functions.gcp.secret_manager import MissingSecretError
from functions.mail.outcome import MisconfiguredError
from functions.ports import SecretReader


def usable_key(secrets: SecretReader, name: str, form: re.Pattern[str], should_be: str) -> str:
    """Return the newest version of the secret `name`, the key to an email provider.

    Raises:
        MisconfiguredError: The key is missing or does not have the `form`.
        Exception: Secret Manager is unavailable.
    """
    try:
        [key] = secrets.versions(name, at_most=1)
    except MissingSecretError as missing:
        raise MisconfiguredError(name, should_be) from missing
    if not form.fullmatch(key):
        raise MisconfiguredError(name, f"{should_be} without other characters")
    return key
