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

/** The authentication method reference of a proof (RFC 8176), by the name that clients of the protocol know. */
export function methodReference({ method, provider }: Pick<Factor, "method" | "provider">): string | null {
  return method === "third_party" ? `ext:${publicProvider(provider)}` : references[method];
}

/** How clients know a provider: by its key, or, of SAML, by its entity id. */
export function publicProvider(provider = ""): string {
  return provider.replace(/^saml:/, "");
}
