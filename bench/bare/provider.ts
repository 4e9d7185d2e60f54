import { Agent, request } from "node:https";
import { text } from "node:stream/consumers";
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from "jose";
import { sha256 } from "./proofs.ts";
import type { Bare } from "./settings.ts";
import { others } from "./statements.ts";
import { must, seal, secret } from "./steps.ts";

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
  const [asked] = await bare.query<{ flow_id: string; redirect_to: string }>(
    "take_request",
    others.takeRequest,
    [bare.tenantId, sha256(state)],
  );
  must(asked !== undefined);
  const form = new URLSearchParams({ grant_type: "authorization_code", code, redirect_uri: bare.origin });
  const { id_token } = JSON.parse(await ask(bare, "/token", form)) as { id_token: string };
  keys ??= ask(bare, "/jwks").then((found) => createLocalJWKSet(JSON.parse(found) as JSONWebKeySet));
  const { payload } = await jwtVerify(id_token, await keys, { issuer: bare.provider, audience: "bench" });
  const token = secret();
  const facts = seal(JSON.stringify(payload));
  const values = [bare.tenantId, sha256(token), asked.flow_id, payload.sub, facts];
  await bare.query("exchange", others.exchange, values);
  return `${asked.redirect_to}/?hanko_token=${token}`;
}

function ask({ provider, certificate: ca }: Bare, path: string, form?: URLSearchParams): Promise<string> {
  agent ??= new Agent({ keepAlive: true, ca });
  return new Promise((resolve, reject) => {
    const body = form?.toString() ?? "";
    const type = { "content-type": "application/x-www-form-urlencoded", "content-length": body.length };
    const [method, headers] = form ? ["POST", type] : ["GET", {}];
    request(provider + path, { agent, method, headers }, (response) => text(response).then(resolve, reject))
      .once("error", reject)
      .end(body);
  });
}
