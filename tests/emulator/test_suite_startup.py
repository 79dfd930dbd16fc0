"""The start of the emulators is judged by what they print."""

from emulator.environment import ROOT
from emulator.suite import Startup, local_config, read_addresses

LOADED = "✔  functions: Loaded functions definitions from source: deliverWebhook, sweepDeliveries."
QUEUE = (
    "✔  functions[us-central1-deliverWebhook]: http function initialized"
    " (http://127.0.0.1:5001/demo-wall/us-central1/deliverWebhook)."
)
SCHEDULE = (
    "i  functions[us-central1-sweepDeliveries]: function ignored because the pubsub emulator"
    " does not exist or is not running."
)
READY = "│ ✔  All emulators ready! It is now safe to connect your app. │"


def noticed(*lines: str) -> Startup:
    """Return what was made of some lines."""
    startup = Startup()
    for line in lines:
        startup.notice(line)
    return startup


def test_a_start_with_every_function_is_good() -> None:
    """A scheduled function counts as loaded: it is called by hand."""
    startup = noticed(LOADED, QUEUE, SCHEDULE, READY)

    assert (startup.failure(), startup.functions) == ("", 2)


def test_a_start_is_not_over_before_firebase_says_so() -> None:
    """Loaded functions alone are not enough: other emulators may still be starting."""
    startup = Startup()

    over = [startup.notice(line) for line in (LOADED, QUEUE, SCHEDULE, READY)]

    assert over == [False, False, False, True]


def test_functions_that_cannot_be_imported_fail_the_start() -> None:
    """Although Firebase goes on to call itself ready."""
    line = "⬢  functions: Failed to load function definition from source: FirebaseError: no"
    startup = Startup()

    assert startup.notice(line)
    assert "Failed to load function definition" in startup.failure()


def test_a_function_that_is_not_loaded_is_named() -> None:
    """For example one whose emulator was not started."""
    assert noticed(LOADED, SCHEDULE, READY).failure() == "not loaded: deliverWebhook"


def test_an_early_end_is_a_failure() -> None:
    """The output ended before the emulators were ready."""
    assert noticed(LOADED).failure() == "the emulators ended by themselves"


def test_only_local_pages_may_connect_to_emulators() -> None:
    """What is deployed names no address of a machine."""
    deployed = (ROOT / "firebase.json").read_text()
    config = local_config(read_addresses())

    policies = [
        header["value"]
        for rule in config["hosting"]["headers"]
        for header in rule["headers"]
        if header["key"] == "Content-Security-Policy"
    ]
    assert len(policies) == deployed.count("connect-src")
    assert all("connect-src http://127.0.0.1:9099 " in policy for policy in policies)
    assert "http://" not in deployed
