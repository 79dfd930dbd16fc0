"""How deliveries are signed: both signatures, and the secret of each event."""
