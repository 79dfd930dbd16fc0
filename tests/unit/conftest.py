"""Settings of the unit tests."""

from hypothesis import settings

# A busy machine is no fault of the code.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
