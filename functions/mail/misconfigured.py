"""The error of a deployment that cannot send mail."""


class MisconfiguredError(Exception):
    """A parameter or secret is missing or unusable.

    `setting` is its name. The text says what the setting should be, never its value.
    """

    def __init__(self, setting: str, should_be: str) -> None:
        super().__init__(f"{setting} should be {should_be}")
        self.setting = setting


def who_can_fix(error: Exception) -> tuple[str | None, str]:
    """The setting that `error` is about, if any, and who can fix it, for an organizer."""
    if isinstance(error, MisconfiguredError):
        return error.setting, f"The operator of the service has to correct a setting: {error}."
    return None, "Try again."
