import { Agent } from "node:https";
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from "jose";
import { must, seal, secret, sha256 } from "./proofs.ts";
import { request } from "./request.ts";
import type { Bare } from "./settings.ts";
import { others } from "./statements.ts";

/** The return from the local provider (RFC 6749, 4.1.2). */

let agent: Agent | undefined;
let keys: Promise<ReturnType<typeof createLocalJWKSet>> | undefined;

/** @returns where the browser goes on */
export async function returnFromProvider(
  bare: Bare,
  answer: URLSearchParams,
  cookies: string,
): Promise<string> {
  const [state, code] = [answer.get("state") ?? "", answer.get("code") ?? ""];
  must(cookies.includes(`state=${state}`));
  const [asked] = await bare.query<{ flow_id: string; redirect_to: string }>(others.takeRequest, {
    tenant: bare.tenantId,
    stateHash: sha256(state),
  });
  must(asked !== undefined);
  const form = new URLSearchParams({ grant_type: "authorization_code", code, redirect_uri: bare.origin });
  const { id_token } = JSON.parse(await ask(bare, "/token", form)) as { id_token: string };
  keys ??= ask(bare, "/jwks").then((found) => createLocalJWKSet(JSON.parse(found) as JSONWebKeySet));
  const { payload } = await jwtVerify(id_token, await keys, { issuer: bare.provider, audience: "bench" });
  const token = secret();
  await bare.query(others.exchange, {
    tenant: bare.tenantId,
    exchangeHash: sha256(token),
    flow: asked.flow_id,
    subject: payload.sub,
    sealed: seal(JSON.stringify(payload)),
  });
  return `${asked.redirect_to}/?hanko_token=${token}`;
}

function ask({ provider, certificate: ca }: Bare, path: string, form?: URLSearchParams): Promise<string> {
  agent ??= new Agent({ keepAlive: true, ca });
  const headers = form ? { "content-type": "application/x-www-form-urlencoded" } : {};
  return request(provider + path, { agent, headers }, form?.toString());
}
