"""The mail provider and the sender of this deployment."""

from functions import parameters
from functions.gcp import secret_manager
from functions.machine import CLOCK
from functions.mail.misconfigured import MisconfiguredError
from functions.mail.provider import BulkMailer
from functions.mail.sender import MailSender
from functions.mail.sendgrid import KEY_NAME, SendGridMailer


def sender() -> MailSender:
    """The sender, as the parameters name it.

    Raises:
        MisconfiguredError: a parameter cannot be used.
    """
    return MailSender.read(
        parameters.MAIL_FROM.value,
        parameters.MAIL_REPLY_TO.value,
        parameters.MAIL_ADDRESS_LINE.value,
    )


def mailer() -> BulkMailer:
    """The provider's mailer, with its current key.

    Raises:
        MisconfiguredError: the key is missing or unusable.
        Exception: Secret Manager could not be reached.
    """
    try:
        [key] = secret_manager.of_this_process().versions("SENDGRID_API_KEY", at_most=1)
    except secret_manager.MissingSecretError as missing:
        raise MisconfiguredError(KEY_NAME, "a key of SendGrid's") from missing
    return SendGridMailer(key, parameters.SENDGRID_HOST.value, CLOCK.now)
