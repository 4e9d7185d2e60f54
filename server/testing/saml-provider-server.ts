import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
  providerMetadata,
  type SamlIdentityProvider,
  samlIdentityProvider,
} from "./saml-identity-provider.ts";
import type { Answer } from "./saml-messages.ts";

/** An identity provider with pages, for browsers. */
export interface SamlProviderServer extends SamlIdentityProvider {
  /** The value of `metadata_url`. */
  metadataUrl: string;
  /** The user that the sign-on page signs in. */
  person: Pick<Answer, "nameId" | "attributes">;
  /** Further overrides of the responses. */
  about: Partial<Answer>;
  close(): Promise<void>;
}

/**
 * Starts a provider on this machine. It signs every visitor in and returns them by a self-submitting form.
 *
 * @param name its entity id; default: the address of its metadata, another one at each start
 */
export async function startSamlProvider(
  person: SamlProviderServer["person"] = { nameId: "u-1", attributes: {} },
  name?: string,
): Promise<SamlProviderServer> {
  let provider: SamlProviderServer;
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? "/", `http://${request.headers.host}`);
    if (url.pathname === "/metadata") {
      response.setHeader("Content-Type", "application/samlmetadata+xml").end(provider.metadata);
      return;
    }
    const { id, issuer, consumerUrl, relayState } = provider.read(url.href);
    const { person, about } = provider;
    const answer = { consumerUrl, audience: issuer, inResponseTo: id, ...person, ...about };
    const fields = { SAMLResponse: await provider.answer(answer), RelayState: relayState };
    const inputs = Object.entries(fields).map(
      ([name, value]) => `<input type="hidden" name="${name}" value="${value}">`,
    );
    response
      .setHeader("Content-Type", "text/html; charset=utf-8")
      .end(
        `<!doctype html><title>Provider</title><form method="post" action="${consumerUrl}">${inputs.join("")}<button>Continue</button></form><script>document.forms[0].submit()</script>`,
      );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const home = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const metadataUrl = `${home}/metadata`;
  const entityId = name ?? metadataUrl;
  const signOnUrl = `${home}/sso`;
  const made = samlIdentityProvider({ entityId, signOnUrl });
  provider = {
    ...made,
    metadata: providerMetadata(entityId, signOnUrl, [made.key.certificate]),
    metadataUrl,
    person,
    about: {},
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  };
  return provider;
}
