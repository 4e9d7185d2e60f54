import type { Tenant } from "../config/tenant.ts";
import type { Runtime } from "../runtime.ts";
import { createApiKey } from "../tenants/api-keys.ts";
import { send } from "./observed.ts";
import { createUafAuthenticator, type UafAuthenticator } from "./uaf-authenticator/authenticator.ts";
import type { Overrides, UafSettings } from "./uaf-authenticator/call.ts";

/** A response of the authenticator interface. */
export interface ApiResponse {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read any response.
  body: any;
}

export interface CallOptions {
  body?: unknown;
  /** Replaces the application's key; null omits the header. */
  authorization?: string | null;
  headers?: Record<string, string>;
}

/** An application that calls the authenticator interface in this process, and the authenticators of its users. */
export interface AuthenticatorApplication {
  key: string;
  /** Calls a path below `/authenticator`, or an absolute URL. */
  call(method: string, path: string, options?: CallOptions): Promise<ApiResponse>;
  /** The same, with the plain response. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Creates a request. Throws if it is rejected. */
  create(operation: "REG" | "AUTH" | "DEREG", userId: string, more?: object): Promise<ApiResponse["body"]>;
  /** The authenticator's UAF response to a request. */
  answerOf(authenticator: UafAuthenticator, request: ApiResponse["body"], overrides?: Overrides): string;
  /** Sends a UAF response. */
  answer(request: ApiResponse["body"], uafResponse: string, deviceKeyInfo?: unknown): Promise<ApiResponse>;
  /** Registers an authenticator for a user. */
  enroll(
    userId: string,
    settings?: UafSettings,
    deviceKeyInfo?: unknown,
  ): Promise<{ authenticator: UafAuthenticator; deviceId: string }>;
}

const requests = "/v1/uaf/requests";

/** @param tenant default: the default tenant */
export async function authenticatorApplication(
  runtime: Runtime,
  tenant: Tenant = runtime.tenant,
): Promise<AuthenticatorApplication> {
  const { key } = await createApiKey(runtime, tenant, { interface: "authenticator", name: "test" });
  const { base_url } = tenant.config;
  const { host, origin: facetId } = new URL(base_url);

  const fetch: AuthenticatorApplication["fetch"] = async (path, init = {}) => {
    const address = path.startsWith("/") ? `${base_url}/authenticator${path}` : path;
    const headers = { host, ...Object.fromEntries(new Headers(init.headers)) };
    return send(new Request(address, { ...init, headers }), "192.0.2.1", runtime);
  };

  const call: AuthenticatorApplication["call"] = async (method, path, options = {}) => {
    const { body, authorization = `secret ${key}`, headers = {} } = options;
    const response = await fetch(path, {
      method,
      headers: {
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(authorization === null ? {} : { authorization }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json");
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson ? JSON.parse(text) : undefined,
    };
  };

  const create: AuthenticatorApplication["create"] = async (operation, userId, more = {}) => {
    const body = { operation, userId, username: `${userId}@example.com`.slice(0, 128), ...more };
    const made = await call("POST", requests, { body });
    if (made.status !== 200) throw new Error(`${made.status} ${made.text}`);
    return made.body;
  };

  const answerOf: AuthenticatorApplication["answerOf"] = (
    authenticator,
    { operation, request },
    overrides = {},
  ) => {
    const asked = { facetId, overrides };
    return operation === "REG"
      ? authenticator.register(request, asked)
      : authenticator.authenticate(request, asked);
  };

  const answer: AuthenticatorApplication["answer"] = ({ id }, uafResponse, deviceKeyInfo) =>
    call("PUT", `${requests}/${id}`, { body: { uafResponse, deviceKeyInfo } });

  return {
    key,
    fetch,
    call,
    create,
    answerOf,
    answer,
    async enroll(userId, settings, deviceKeyInfo) {
      const authenticator = createUafAuthenticator(settings);
      const request = await create("REG", userId);
      const { body } = await answer(request, answerOf(authenticator, request), deviceKeyInfo);
      if (body.status !== "OK")
        throw new Error(`the authenticator was not registered: ${body.error?.reason}`);
      return { authenticator, deviceId: body.deviceID };
    },
  };
}
