export function RecapsView() { return <p>soon</p>; }
