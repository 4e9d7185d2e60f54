import { createApiKey } from "../tenants/api-keys.ts";
import type { Tenant } from "../tenants/tenant.ts";
import type { TestRuntime } from "./runtime.ts";
import { visitor } from "./visitor.ts";
import {
  type Authenticator,
  type CreateCall,
  type GetCall,
  softwareAuthenticator,
} from "./webauthn-authenticator.ts";
import type { AssertionJson, RegistrationJson } from "./webauthn-json.ts";

/** An application that calls a tenant's passkey server in this process, without a network. */
export interface PasskeyApplication {
  tenant: Tenant;
  key: string;
  /** Where its pages are. */
  origin: string;
  /** A call with its key; `headers` replace those of the same name. A body that is a string is sent as it stands. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiResponse>;
  /** The same without a key. */
  callWithoutKey(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<ApiResponse>;
  /** Both halves of a registration. Throws when one is refused. */
  register(userId: string, about?: Registering): Promise<Registered>;
  /** Options for a login, as a path under the tenant says, and the browser's answer to them. */
  answer(
    authenticator: Authenticator,
    path: string,
    body?: unknown,
    call?: Partial<GetCall>,
  ): Promise<AssertionJson>;
}

export interface ApiResponse {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look at whatever came.
  body: any;
}

export interface Registering {
  mfa?: boolean;
  authenticator?: Authenticator;
  call?: Partial<CreateCall>;
}

export interface Registered {
  authenticator: Authenticator;
  /** base64url */
  credentialId: string;
  answer: RegistrationJson;
  token: string;
}

export async function passkeyApplication(
  runtime: TestRuntime,
  tenant: Tenant = runtime.tenant,
): Promise<PasskeyApplication> {
  const { key } = await createApiKey(runtime, tenant, { interface: "passkeys", name: "an application" });
  const origin = tenant.config.passkey_server.relying_party.origins[0] ?? "";
  const who = visitor(runtime);

  async function callWithoutKey(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ) {
    const response = await who.request(`/passkeys/${tenant.id}${path}`, {
      method,
      headers: { "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text === "" ? undefined : JSON.parse(text),
    };
  }

  const call: PasskeyApplication["call"] = (method, path, body, headers = {}) =>
    callWithoutKey(method, path, body, { apikey: key, ...headers });

  return {
    tenant,
    key,
    origin,
    call,
    callWithoutKey,
    async register(userId, about = {}) {
      const { mfa = false, authenticator = softwareAuthenticator() } = about;
      const path = `${mfa ? "/mfa" : ""}/registration`;
      const opened = await call("POST", `${path}/initialize`, { user_id: userId, username: `${userId}!` });
      if (opened.status !== 200) throw new Error(JSON.stringify(opened.body));
      const answer = authenticator.create(opened.body, { origin, ...about.call });
      const finished = await call("POST", `${path}/finalize`, answer);
      if (finished.status !== 200) throw new Error(JSON.stringify(finished.body));
      return { authenticator, credentialId: answer.id, answer, token: finished.body.token };
    },
    async answer(authenticator, path, body, changes = {}) {
      const opened = await call("POST", `${path}/initialize`, body);
      if (opened.status !== 200) throw new Error(JSON.stringify(opened.body));
      return authenticator.get(opened.body, { origin, ...changes });
    },
  };
}
