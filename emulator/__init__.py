"""The local service: Firebase's emulators, stand-ins for other servers, and a command line.

Start with `python3 -m emulator --help`. Nothing here is deployed.
"""
