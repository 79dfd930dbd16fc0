"""Google's side of the service, on loopback: what runs the functions, and the APIs that they call.

Firestore, Auth and Hosting have emulators of Firebase's. What has none is here, and speaks the
published protocol, so that the functions use the clients that they use when deployed.
"""
