/** The display name of a user: name, username, or email address. */
export function nameOf(user: unknown): string | null {
  const { name, username } = recordOf(user);
  const candidates = [name, recordOf(username).username, primaryAddressOf(user)];
  return candidates.find((candidate): candidate is string => isText(candidate)) ?? null;
}

/** The primary email address of a user, else the first. */
export function primaryAddressOf(user: unknown): string | null {
  const addresses = listOf(recordOf(user).emails);
  const primary = addresses.find((email) => email.is_primary === true) ?? addresses[0];
  return isText(primary?.address) ? primary.address : null;
}

/** The members of an unverified value that should be an object; empty for anything else. */
export function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

/** The objects of an unverified value that should be a list. */
export function listOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === "object" && entry !== null) : [];
}

/** The texts of an unverified value that should be a list of them. */
export function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter(isText) : [];
}

/** The recovery codes in a payload; empty for anything else. */
export function recoveryCodesIn({ recovery_codes: codes }: Record<string, unknown>): string[] {
  return textsOf(codes);
}

/** The relying party id in a payload: of options for the browser, or of the account. */
export function relyingPartyIn({
  request_options,
  creation_options,
  relying_party_id,
}: Record<string, unknown>) {
  const { rpId } = recordOf(recordOf(request_options).publicKey);
  const { rp } = recordOf(recordOf(creation_options).publicKey);
  return [rpId, recordOf(rp).id, relying_party_id].find(isText);
}

export function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
