import { randomUUID } from "node:crypto";
import { type ExchangeToken, issueExchangeToken } from "../thirdparty/exchange-tokens.ts";
import type { ProviderFacts } from "../thirdparty/provider-facts.ts";
import { newAddress } from "./people.ts";
import type { TestRuntime } from "./runtime.ts";

/** Settings of the provider `custom_acme`, with fixed endpoints in place of discovery. */
export const acme = (more: object = {}): Record<string, string> => ({
  STILE_THIRD_PARTY_CUSTOM_PROVIDERS: JSON.stringify({
    acme: {
      display_name: "Acme",
      client_id: "client",
      use_discovery: false,
      authorization_endpoint: "https://acme.example/authorize",
      token_endpoint: "https://acme.example/token",
      userinfo_endpoint: "https://acme.example/userinfo",
      scopes: ["who"],
      allow_linking: true,
      ...more,
    },
  }),
});

/** A user of Acme with a verified address. */
export function acmePerson(more: Partial<ProviderFacts> = {}): ProviderFacts {
  return {
    provider: "custom_acme",
    subject: randomUUID(),
    email: newAddress(),
    emailVerified: true,
    satisfiesMfa: false,
    skipEmailVerification: false,
    ...more,
  };
}

/** Issues an exchange token as the callback does.  */
export function returnFromProvider(
  runtime: TestRuntime,
  about: Partial<ExchangeToken> & { facts: ProviderFacts },
): Promise<string> {
  return issueExchangeToken(runtime, runtime.tenant, { flowId: null, ...about });
}
