/** Longer than the server's own limit for a step; after it the answer counts as lost. */
export const REQUEST_TIMEOUT_MS = 20_000;
