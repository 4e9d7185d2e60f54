/** Name of a new passkey whose provider is unknown: {browser}, {system}. */
export const passkeyIn = "Chave de acesso no {browser} em {system}";
