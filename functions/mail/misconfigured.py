"""What is wrong with the deployment itself, so that no mail can leave whoever asks for it."""


class MisconfiguredError(Exception):
    """A parameter or secret is missing or cannot be used.

    `setting` is its name; the text says what it should be, and never what it is.
    """

    def __init__(self, setting: str, should_be: str) -> None:
        super().__init__(f"{setting} should be {should_be}")
        self.setting = setting

    @property
    def turn(self) -> str:
        """A sentence that tells an organizer whose turn it is."""
        return f"Whoever operates the service has to correct it: {self}."


def whose_turn(error: Exception) -> tuple[str | None, str]:
    """The setting that `error` is about, if any, and what to tell an organizer to do."""
    if isinstance(error, MisconfiguredError):
        return error.setting, error.turn
    return None, "Try again."
