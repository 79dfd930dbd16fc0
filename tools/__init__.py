"""What installs the checkout, runs its checks, builds its pages, and reads `.env`.

Modules that `python3 -m emulator` needs before anything is installed use the standard library only.
"""
