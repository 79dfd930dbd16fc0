export function SignatureView() { return <p>soon</p>; }
