"""E-mail addresses that a mail can be sent to."""

from email_validator import EmailNotValidError, validate_email


def deliverable(email: str) -> str | None:
    """`email` with its domain in ASCII; None where the syntax is not valid."""
    try:
        # Without DNS: 5000 look-ups take longer than the mails.
        found = validate_email(email, check_deliverability=False, allow_smtputf8=False, strict=True)
    except EmailNotValidError:
        return None
    return found.ascii_email


def masked(email: str) -> str:
    """`email` with the first letter and the domain alone: `a…@example.com`."""
    return f"{email[:1]}…{email[email.rfind('@') :]}"
