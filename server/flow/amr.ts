import type { FlowData } from "./data.ts";

type Factor = FlowData["factors"][number];

const references: Record<Exclude<Factor["method"], "third_party">, string | null> = {
  password: "pwd",
  passcode: "otp",
  passkey: "passkey",
  totp: "totp",
  security_key: "security_key",
  authenticator: "authenticator",
  recovery_code: "recovery_code",
  registration: null,
};

/** Returns the authentication method reference of a factor (RFC 8176), as clients of the protocol know it. */
function methodReference({ method, provider }: Pick<Factor, "method" | "provider">): string | null {
  return method === "third_party" ? `ext:${publicProvider(provider)}` : references[method];
}

/** Returns the `amr` claim of a session (RFC 8176) for its factors. */
export function amrOf(factors: readonly Factor[]): string[] {
  return factors.map(methodReference).filter((reference) => reference !== null);
}

/** Returns the provider name that clients know: the key of an OAuth provider, the entity id of a SAML provider. */
export function publicProvider(provider = ""): string {
  return provider.replace(/^saml:/, "");
}
