"""Mail as this deployment sends it."""

from datetime import UTC, datetime

from functions.gcp import parameters, secret_manager
from functions.mail.letterhead import Letterhead
from functions.mail.misconfigured import MisconfiguredError
from functions.mail.sendgrid import SendGridMailer


def letterhead() -> Letterhead:
    """The sender, as the parameters name it.

    Raises:
        MisconfiguredError: one of them cannot be used.
    """
    return Letterhead.read(
        parameters.MAIL_FROM.value,
        parameters.MAIL_REPLY_TO.value,
        parameters.MAIL_ADDRESS_LINE.value,
    )


def mailer() -> SendGridMailer:
    """The mail service, with its key of the moment.

    Raises:
        MisconfiguredError: there is no key.
        Exception: Secret Manager could not be reached.
    """
    try:
        [key] = secret_manager.versions("SENDGRID_API_KEY", at_most=1)
    except secret_manager.MissingSecretError as missing:
        raise MisconfiguredError("SENDGRID_API_KEY", "a key of SendGrid's") from missing
    return SendGridMailer(key, parameters.SENDGRID_HOST.value, lambda: datetime.now(UTC))
