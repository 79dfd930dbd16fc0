"""The keys of the links in mails: the secret `EMAIL_PREFS_KEY`."""

from functions.gcp import secret_manager


def values() -> tuple[str, ...]:
    """Every enabled version of the secret, the newest first (design 3.57).

    Raises:
        MissingSecretError: no version is enabled.
        Exception: Secret Manager could not be reached.
    """
    return secret_manager.of_this_process().versions("EMAIL_PREFS_KEY")
