import { type FakeProvider, startFakeProvider } from "../fake-provider.ts";
import type { FlowClient } from "../flow-client.ts";

const CLIENT_ID = "stile-testing";

/** An identity provider for tests: OpenID Connect, on this machine, without a page of its own. */
export interface IdentityProvider {
  /** Its name in the flow interface: the `provider` of `thirdparty_oauth`. */
  readonly id: "custom_fake";
  readonly issuer: string;
  /** From now on, this person is signed in at the provider. `sub` identifies the account there. */
  signsIn(claims: { sub: string; email?: string; email_verified?: boolean; name?: string } & object): void;
  /** From now on, the person turns back at the provider. */
  turnsBack(): void;
  /**
   * Goes to the provider and back, as a browser does after `thirdparty_oauth`.
   *
   * @returns the token for `exchange_token`
   * @throws Error with the reason if the sign-in came back with an error
   */
  visit(client: FlowClient): Promise<string>;
}

/** Starts a provider; `settings` make a server know it. */
export async function startIdentityProvider(): Promise<{
  provider: IdentityProvider;
  settings: Record<string, unknown>;
  close(): Promise<void>;
}> {
  const fake: FakeProvider = await startFakeProvider(CLIENT_ID);
  return {
    provider: {
      id: "custom_fake",
      issuer: fake.issuer,
      signsIn(claims) {
        fake.person = { ...claims };
      },
      turnsBack() {
        fake.person = null;
      },
      visit: (client) => visit(client),
    },
    settings: {
      third_party: {
        custom_providers: {
          fake: {
            display_name: "Fake provider",
            client_id: CLIENT_ID,
            secret: "a secret of tests",
            issuer: fake.issuer,
            allow_linking: true,
          },
        },
      },
    },
    close: () => fake.close(),
  };
}

async function visit(client: FlowClient): Promise<string> {
  const { redirect_url } = client.state.payload;
  if (typeof redirect_url !== "string")
    throw new Error(`${client.state.name} names no redirect_url: perform thirdparty_oauth first`);
  const atProvider = await fetch(redirect_url, { redirect: "manual" });
  const back = new URL(atProvider.headers.get("location") ?? "about:blank");
  const answer = await client.request(back.pathname + back.search);
  const target = new URL(answer.headers.get("location") ?? "about:blank");
  const token = target.searchParams.get("hanko_token");
  if (token) return token;
  const { searchParams } = target;
  throw new Error(
    `the sign-in at the provider came back without a token: ${searchParams.get("error_description") ?? searchParams.get("error") ?? answer.status}`,
  );
}
