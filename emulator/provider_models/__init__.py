"""Models of Cloud Tasks, Eventarc and SendGrid. They are pure: callers pass the clock.

The local service, the simulation, the tests in memory and the benches use them.
"""
