/** The settings of providers that are written and never shown. */
export const oauthSecrets = ["secret", "private_key"];
