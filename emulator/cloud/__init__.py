"""Stand-ins on loopback for Google Cloud: the functions' runtime, and the APIs that they call.

Firebase has emulators for Firestore, Auth and Hosting. The stand-ins in this package implement the
published protocols of the other services, so that the functions use the same clients as when
deployed.
"""
