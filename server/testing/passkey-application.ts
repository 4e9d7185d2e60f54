import { randomUUID } from "node:crypto";
import type { Tenant } from "../config/tenant.ts";
import { createApiKey } from "../tenants/api-keys.ts";
import type { TestRuntime } from "./runtime.ts";
import { visitor } from "./visitor.ts";
import {
  type Authenticator,
  type CreateCall,
  type Credential,
  type GetCall,
  softwareAuthenticator,
} from "./webauthn-authenticator.ts";
import type { AssertionJson, RegistrationJson } from "./webauthn-json.ts";

/** An application that calls a tenant's passkey server in this process, without a network. */
export interface PasskeyApplication {
  tenant: Tenant;
  key: string;
  /** The origin of its pages. */
  origin: string;
  /** Calls with its key; `headers` replace those of the same name. A body that is a string is sent unchanged. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiResponse>;
  /** Posts with its key. */
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiResponse>;
  /** Reads with its key. */
  get(path: string): Promise<ApiResponse>;
  postWithoutKey(path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiResponse>;
  /** Calls without a key. */
  callWithoutKey(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<ApiResponse>;
  /** Initializes and finalizes a registration. Throws if either is rejected. */
  register(userId: string, about?: Registering): Promise<Registered>;
  /** Registers a passkey of a new user, of a software authenticator with the given settings. */
  registerUser(
    settings?: Parameters<typeof softwareAuthenticator>[0],
    userId?: string,
  ): Promise<RegisteredUser>;
  /** Initializes the ceremony under `path`, such as `/login`, and returns the browser's response to its options. */
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
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies of every shape.
  body: any;
}

export interface Registering {
  mfa?: boolean;
  authenticator?: Authenticator;
  call?: Partial<CreateCall>;
}

export interface Registered {
  authenticator: Authenticator;
  credential: Credential;
  /** base64url */
  credentialId: string;
  answer: RegistrationJson;
  token: string;
}

export interface RegisteredUser extends Registered {
  userId: string;
}

export async function passkeyApplication(
  runtime: TestRuntime,
  tenant: Tenant = runtime.tenant,
): Promise<PasskeyApplication> {
  const { key } = await createApiKey(runtime, tenant, { interface: "passkeys", name: "an application" });
  const origin = tenant.config.passkey_server.relying_party.origins[0] ?? "";
  const client = visitor(runtime);

  async function callWithoutKey(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ) {
    const response = await client.request(`/passkeys/${tenant.id}${path}`, {
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

  const register: PasskeyApplication["register"] = async (userId, about = {}) => {
    const { mfa = false, authenticator = softwareAuthenticator() } = about;
    const path = `${mfa ? "/mfa" : ""}/registration`;
    const initialized = await call("POST", `${path}/initialize`, { user_id: userId, username: `${userId}!` });
    if (initialized.status !== 200) throw new Error(JSON.stringify(initialized.body));
    const answer = authenticator.create(initialized.body, { origin, ...about.call });
    const finalized = await call("POST", `${path}/finalize`, answer);
    if (finalized.status !== 200) throw new Error(JSON.stringify(finalized.body));
    const credential = authenticator.credentials.find(({ id }) => id.toString("base64url") === answer.id);
    if (!credential) throw new Error("the authenticator has no such credential");
    return { authenticator, credential, credentialId: answer.id, answer, token: finalized.body.token };
  };

  return {
    tenant,
    key,
    origin,
    call,
    post: (path, body, headers) => call("POST", path, body, headers),
    get: (path) => call("GET", path),
    postWithoutKey: (path, body, headers) => callWithoutKey("POST", path, body, headers),
    callWithoutKey,
    register,
    registerUser: async (settings = {}, userId = randomUUID()) => ({
      userId,
      ...(await register(userId, { authenticator: softwareAuthenticator(settings) })),
    }),
    async answer(authenticator, path, body, changes = {}) {
      const initialized = await call("POST", `${path}/initialize`, body);
      if (initialized.status !== 200) throw new Error(JSON.stringify(initialized.body));
      return authenticator.get(initialized.body, { origin, ...changes });
    },
  };
}
