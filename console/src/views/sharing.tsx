export function SharingView() { return <p>soon</p>; }
