/** Name of a new passkey whose provider is unknown: {browser}, {system}. */
export const passkeyIn = "{system} 上 {browser} 中的通行密钥";
