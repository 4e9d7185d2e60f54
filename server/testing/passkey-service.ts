import { createPublicKey, verify } from "node:crypto";
import type { RunningServer } from "./server.ts";
import { startService } from "./service.ts";

/** A running server with the tenant id and API key of an application that uses its passkey server. */
export interface PasskeyService {
  server: RunningServer;
  /** `<server>/passkeys` */
  base: string;
  /** `<base>/<tenant id>` */
  tenantBase: string;
  tenantId: string;
  key: string;
  /** A call by the application. */
  call(method: string, path: string, body?: unknown, options?: CallOptions): Promise<PasskeyAnswer>;
  /**
   * Verifies a JWS by the published key that it names (RFC 7515, 5.2), without any code of the server.
   *
   * @throws Error if the signature is wrong
   */
  verifyJws(jws: string): Promise<VerifiedJws>;
  close(): Promise<void>;
}

interface CallOptions {
  /** Null: no API key is sent. */
  key?: string | null;
  headers?: Record<string, string>;
}

export interface PasskeyAnswer {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a client has no types of its own.
  body: any;
}

export interface VerifiedJws {
  header: { alg: string; typ: string; kid: string };
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  claims: any;
}

/** @param settings environment variables of the server */
export async function startPasskeyService(settings: Record<string, string> = {}): Promise<PasskeyService> {
  const { server, stile, close } = await startService(settings);
  const base = `${server.url}/passkeys`;
  // The fixed id of the default tenant.
  const tenantId = "00000000-0000-4000-8000-000000000001";
  const tenantBase = `${base}/${tenantId}`;
  const ownKey = await stile("keys", "create", "--interface", "passkeys");

  const call: PasskeyService["call"] = async (method, path, body, { key = ownKey, headers = {} } = {}) => {
    const answer = await fetch(tenantBase + path, {
      method,
      headers: {
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...(key === null ? {} : { apiKey: key }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return {
      status: answer.status,
      headers: answer.headers,
      text,
      body: text === "" ? undefined : JSON.parse(text),
    };
  };

  async function verifyJws(jws: string): Promise<VerifiedJws> {
    const [encodedHeader = "", payload = "", signature = ""] = jws.split(".");
    const header = JSON.parse(Buffer.from(encodedHeader, "base64url").toString()) as VerifiedJws["header"];
    if (header.alg !== "RS256") throw new Error(`signed with ${header.alg}, not RS256`);
    const { body } = await call("GET", "/.well-known/jwks.json", undefined, { key: null });
    const jwk = body.keys.find(({ kid }: { kid: string }) => kid === header.kid);
    const signed = Buffer.from(`${encodedHeader}.${payload}`);
    const publicKey = createPublicKey({ key: jwk, format: "jwk" });
    if (!verify("sha256", signed, publicKey, Buffer.from(signature, "base64url")))
      throw new Error("the signature is wrong");
    return { header, claims: JSON.parse(Buffer.from(payload, "base64url").toString()) };
  }

  return { server, base, tenantBase, tenantId, key: ownKey, call, verifyJws, close };
}
