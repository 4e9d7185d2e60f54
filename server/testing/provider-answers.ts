import { randomUUID } from "node:crypto";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { takeThirdPartyRequest } from "../thirdparty/authorization-requests.ts";
import { completeAuthorization, startAuthorization } from "../thirdparty/oauth.ts";
import type { ProviderFacts } from "../thirdparty/provider-facts.ts";
import { providerNetwork } from "../thirdparty/provider-fetch.ts";
import { findProvider } from "../thirdparty/providers/index.ts";
import { requestContext } from "./request-context.ts";
import type { TestRuntime } from "./runtime.ts";

/** A request to a provider. */
export interface AskedOfProvider {
  address: string;
  headers: Headers;
  form: URLSearchParams;
}

/** Recorded responses of a built-in provider. */
export interface Recorded {
  /** JSON by URL without query. */
  answers: Record<string, unknown>;
  /** Claims of its ID token, and the URL of its keys; `nonce: false` omits the nonce. */
  idToken?: { keys: string; claims: Record<string, unknown>; nonce?: false };
}

/**
 * Replaces the responses of a provider by recorded ones; no request leaves the process.
 *
 * @param url authorization URL, which carries the nonce of the ID token
 * @returns its requests, filled as they arrive
 */
export async function playProvider(
  runtime: TestRuntime,
  { answers: recorded, idToken }: Recorded,
  url: URL,
): Promise<AskedOfProvider[]> {
  const answers = { ...recorded };
  if (idToken) {
    const { privateKey, publicKey } = await generateKeyPair("RS256");
    answers[idToken.keys] = { keys: [{ ...(await exportJWK(publicKey)), kid: "recorded", use: "sig" }] };
    const nonce = idToken.nonce === false ? {} : { nonce: url.searchParams.get("nonce") };
    const now = Math.floor(Date.now() / 1000);
    const signed = await new SignJWT({ iat: now, exp: now + 60, ...nonce, ...idToken.claims })
      .setProtectedHeader({ alg: "RS256", kid: "recorded" })
      .sign(privateKey);
    for (const [address, answer] of Object.entries(answers))
      if (isToken(answer)) answers[address] = { ...answer, id_token: signed };
  }
  const asked: AskedOfProvider[] = [];
  providerNetwork(runtime).keys.clear();
  providerNetwork(runtime).fetch = async (input, init) => {
    const address = String(input);
    asked.push({
      address,
      headers: new Headers(init?.headers),
      form: new URLSearchParams(String(init?.body ?? "")),
    });
    const answer = answers[address.replace(/\?.*/, "")];
    return answer === undefined ? new Response(null, { status: 404 }) : Response.json(answer);
  };
  return asked;
}

/**
 * Signs in at a built-in provider.
 *
 * @param provider its id
 * @param recorded `callback`: additional parameters of the callback
 */
export async function signInAt(
  runtime: TestRuntime,
  provider: string,
  recorded: Recorded & { callback?: Record<string, string> },
): Promise<{ url: URL; facts: ProviderFacts; asked: AskedOfProvider[] }> {
  const { tenant } = runtime;
  const found = findProvider(tenant.config, provider);
  if (!found) throw new Error(`${provider} is not enabled`);
  const about = { flowId: randomUUID(), redirectTo: `${tenant.config.base_url}/`, privateState: {} };
  // Discovery precedes the redirect.
  await playProvider(runtime, recorded, new URL(tenant.config.base_url));
  const { url, state, write } = await startAuthorization(requestContext(runtime), found, about);
  await runtime.database.write.transaction(write);
  const request = await takeThirdPartyRequest(runtime, tenant, state, new Date());
  if (!request) throw new Error("the authorization request was not found");

  const asked = await playProvider(runtime, recorded, new URL(url));
  const answer = new URLSearchParams({ state, code: "code", ...recorded.callback });
  const { privateState } = request;
  const { facts } = await completeAuthorization({ runtime, tenant }, found, { answer, state, privateState });
  return { url: new URL(url), facts, asked };
}

function isToken(answer: unknown): answer is object {
  return typeof answer === "object" && answer !== null && "access_token" in answer;
}
