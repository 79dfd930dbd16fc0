"""The service on one machine: Firebase's emulators, stand-ins for the world outside, and checks.

Start at `python3 -m emulator --help`. Nothing here is deployed.
"""
