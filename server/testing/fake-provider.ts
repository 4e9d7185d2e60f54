import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { type CryptoKey, exportJWK, generateKeyPair, type JWTHeaderParameters, SignJWT } from "jose";

/** Answers one request to the provider; `body` holds the parameters of a form, or of the address of a GET. */
export type FakeAnswer = (response: ServerResponse, body: URLSearchParams) => unknown;

/** A local OpenID Connect provider whose responses tests can replace. By default its responses are valid. */
export interface FakeProvider {
  issuer: string;
  /** Received requests, oldest first. */
  asked: { path: string; body: URLSearchParams; authorization: string | undefined }[];
  /** Replacements of the default responses, by path. */
  answers: Record<string, FakeAnswer>;
  /** Overrides of the claims of the next ID token; undefined omits a claim. */
  claims: Record<string, unknown>;
  /** Claims of the person who is signed in at the provider; null for one who turns back. */
  person: Record<string, unknown> | null;
  /** Replaces the next ID token. */
  idToken: string | undefined;
  /** The published public key of its token signatures. */
  publicJwk: Record<string, unknown>;
  /** Signs claims with the provider's key, or with another one. */
  sign(
    claims: Record<string, unknown>,
    header?: Partial<JWTHeaderParameters>,
    key?: CryptoKey,
  ): Promise<string>;
  /** Removes all replacements and recorded requests. */
  reset(): void;
  close(): Promise<void>;
}

/** @param clientId audience of its ID tokens */
export async function startFakeProvider(clientId: string): Promise<FakeProvider> {
  const { privateKey, publicKey } = await generateKeyPair("RS256", { extractable: true });
  const publicJwk = { ...(await exportJWK(publicKey)), alg: "RS256", use: "sig", kid: "default" };

  const server = createServer(async (request: IncomingMessage, response) => {
    const { pathname: path, searchParams } = new URL(request.url ?? "", "http://fake");
    const body = request.method === "GET" ? searchParams : new URLSearchParams(await text(request));
    fake.asked.push({ path, body, authorization: request.headers.authorization });
    const answer = fake.answers[path] ?? defaults[path];
    if (!answer) return void response.writeHead(404).end();
    await answer(response, body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  /** What the authorization codes that were given stand for. */
  const granted = new Map<string, Record<string, unknown>>();
  const defaults: Record<string, FakeAnswer> = {
    "/authorize": (response, asked) => {
      const back = new URL(asked.get("redirect_uri") ?? "");
      back.searchParams.set("state", asked.get("state") ?? "");
      if (fake.person) {
        const code = randomUUID();
        granted.set(code, { ...fake.person, nonce: asked.get("nonce") ?? undefined });
        back.searchParams.set("code", code);
      } else back.searchParams.set("error", "access_denied");
      response.writeHead(302, { Location: back.href }).end();
    },
    "/.well-known/openid-configuration": (response) =>
      json(response, {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        userinfo_endpoint: `${issuer}/userinfo`,
        jwks_uri: `${issuer}/jwks`,
        response_types_supported: ["code"],
        subject_types_supported: ["public"],
        id_token_signing_alg_values_supported: ["RS256"],
      }),
    "/jwks": (response) => json(response, { keys: [publicJwk] }),
    "/userinfo": (response) =>
      json(
        response,
        granted.get(fake.asked.at(-1)?.authorization?.replace("Bearer ", "") ?? "") ?? {
          sub: "subject",
          email: "person@example.com",
        },
      ),
    "/token": async (response, form) =>
      json(response, {
        access_token: granted.has(form.get("code") ?? "") ? form.get("code") : "access",
        token_type: "Bearer",
        id_token:
          fake.idToken ?? (await fake.sign({ ...granted.get(form.get("code") ?? ""), ...fake.claims })),
      }),
  };

  const fake: FakeProvider = {
    issuer,
    publicJwk,
    asked: [],
    answers: {},
    claims: {},
    person: null,
    idToken: undefined,
    sign(claims, header = {}, key = privateKey) {
      const now = Math.floor(Date.now() / 1000);
      const all = { iss: issuer, aud: clientId, sub: "subject", iat: now, exp: now + 60, ...claims };
      const present = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
      return new SignJWT(present).setProtectedHeader({ alg: "RS256", kid: "default", ...header }).sign(key);
    },
    reset() {
      fake.asked.length = 0;
      fake.answers = {};
      fake.claims = {};
      fake.person = null;
      fake.idToken = undefined;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return fake;
}

/** Writes a JSON response. */
export function json(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
}
