/** Name of a new passkey whose provider is unknown: {browser}, {system}. */
export const passkeyIn = "Passkey in {browser} on {system}";
