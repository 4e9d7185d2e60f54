/** Name of a new passkey whose provider is unknown: {browser}, {system}. */
export const passkeyIn = "{system}-এ {browser}-এর পাসকী";
