import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  providerMetadata,
  type SamlIdentityProvider,
  samlIdentityProvider,
} from "./saml-identity-provider.ts";
import { libraryRequest, libraryResponse, readByLibrary } from "./saml-logout.ts";
import type { Answer } from "./saml-messages.ts";

/** An identity provider with pages, for browsers. */
export interface SamlProviderServer extends SamlIdentityProvider {
  /** The value of `metadata_url`. */
  metadataUrl: string;
  /** The user that the sign-on page signs in. */
  person: Pick<Answer, "nameId" | "attributes">;
  /** Further overrides of the responses. */
  about: Partial<Answer>;
  /**
   * The service provider that it signs users out of. With one, the sign-on page asks a browser that is not signed in, single
   * logout is at `/slo`, and `/leave` signs a user out here and there.
   */
  signsOutOf: { url: string; domain: string } | null;
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
    if (["/slo", "/leave"].includes(url.pathname)) return signOut(provider, url, request, response);
    // A browser asks for an icon too.
    if (url.pathname !== "/sso") return void response.writeHead(404).end();
    const sessionIndex = sessionOf(request);
    if (provider.signsOutOf && !sessionIndex && request.method === "GET")
      return page(
        response,
        `<h1>Provider</h1><form method="post"><button>Sign in at Provider</button></form>`,
      );
    const session = sessionIndex ?? randomUUID();
    if (provider.signsOutOf) response.setHeader("Set-Cookie", `at-provider=${session}; Path=/`);
    const { id, issuer, consumerUrl, relayState } = provider.read(url.href);
    const { person, about } = provider;
    const answer = {
      consumerUrl,
      audience: issuer,
      inResponseTo: id,
      ...(provider.signsOutOf ? { sessionIndex: session } : {}),
      ...person,
      ...about,
    };
    const fields = { SAMLResponse: await provider.answer(answer), RelayState: relayState };
    const inputs = Object.entries(fields).map(
      ([name, value]) => `<input type="hidden" name="${name}" value="${value}">`,
    );
    page(
      response,
      `<form method="post" action="${consumerUrl}">${inputs.join("")}<button>Continue</button></form><script>document.forms[0].submit()</script>`,
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
    metadata: providerMetadata(entityId, signOnUrl, [made.key.certificate], `${home}/slo`),
    metadataUrl,
    person,
    about: {},
    signsOutOf: null,
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  };
  return provider;
}

const sessionOf = ({ headers }: IncomingMessage): string | null =>
  /(?:^|; )at-provider=([^;]+)/.exec(headers.cookie ?? "")?.[1] ?? null;

function page(response: ServerResponse, content: string): void {
  response
    .setHeader("Content-Type", "text/html; charset=utf-8")
    .end(`<!doctype html><title>Provider</title>${content}`);
}

/** Ends the session of a browser, at the request of the service provider or of its user. */
async function signOut(
  { entityId, key, person, signsOutOf }: SamlProviderServer,
  { href, pathname, searchParams }: URL,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (!signsOutOf) return void response.writeHead(404).end();
  const { url, domain } = signsOutOf;
  const certificate = await (await fetch(`${url}/saml/metadata?domain=${domain}&cert_only=true`)).text();
  const serviceProvider = { entityId: url, logoutUrl: `${url}/saml/logout`, certificate };
  const sides = { entityId, serviceProvider, key };
  const sessionIndex = sessionOf(request) ?? "";
  response.setHeader("Set-Cookie", "at-provider=; Path=/; Max-Age=0");
  if (pathname === "/leave") {
    const location = await libraryRequest(sides, { nameID: person.nameId, sessionIndex }, "left");
    return void response.writeHead(302, { Location: location }).end();
  }
  const read = await readByLibrary(sides, href).catch(() => undefined);
  if (read === undefined) return void response.writeHead(400).end("The message is not accepted.");
  if (read === null) return page(response, "<h1>You are signed out everywhere</h1>");
  const isKnown = read.nameID === person.nameId && read.sessionIndex === sessionIndex;
  if (!isKnown) return void response.writeHead(400).end("There is no such session.");
  const answer = await libraryResponse(sides, String(read.ID), searchParams.get("RelayState") ?? "");
  response.writeHead(302, { Location: answer }).end();
}
