/** Turbopack would otherwise find the one of the service above, which starts it. */
export function register() {}
