"""The keys of the links to logs: the secret `LOG_LINKS_KEY`, which signs nothing else."""

from functions.gcp import secret_manager


def values() -> tuple[str, ...]:
    """Every enabled version of the secret, the newest first.

    Raises:
        MissingSecretError: the secret has no enabled version.
        Exception: Secret Manager could not be reached.
    """
    return secret_manager.versions("LOG_LINKS_KEY")
