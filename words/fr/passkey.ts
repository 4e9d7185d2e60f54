/** Name of a new passkey whose provider is unknown: {browser}, {system}. */
export const passkeyIn = "Clé d’accès dans {browser} sur {system}";
