"""How Google's queues and events and SendGrid behave: pure models, on clocks that are handed in.

The local service, the simulation, the tests in memory and the bench all stand on these.
"""
