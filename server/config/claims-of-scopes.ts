/** Claims about the user, by the scope that asks for them (OpenID Connect Core, 5.4). */
export const claimsOfScopes = {
  profile: ["name", "given_name", "family_name", "preferred_username", "picture", "locale", "updated_at"],
  email: ["email", "email_verified"],
  phone: ["phone_number", "phone_number_verified"],
} as const satisfies Record<string, readonly string[]>;
