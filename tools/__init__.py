"""Development tools: installation, checks, generated files, and a reader of `.env`.

Modules that `python3 -m emulator` imports before the installation use only the standard library.
"""
