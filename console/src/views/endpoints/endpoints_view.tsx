export function EndpointsView() { return <p>soon</p>; }
