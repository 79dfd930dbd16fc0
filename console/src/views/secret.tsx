export function SecretView() { return <p>soon</p>; }
