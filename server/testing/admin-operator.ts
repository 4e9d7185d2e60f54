import type { Tenant } from "../config/tenant.ts";
import { createApiKey } from "../tenants/api-keys.ts";
import type { TestRuntime } from "./runtime.ts";
import { visitor } from "./visitor.ts";

/** A server of an operator that calls the administration interface of a tenant. */
export interface AdminOperator {
  tenant: Tenant;
  key: string;
  /** Calls `/admin<path>`; `body`: JSON, or a text that is sent unchanged. */
  call(method: string, path: string, body?: unknown): Promise<AdminAnswer>;
  /** The same without a key, with the given headers. */
  callWithoutKey(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<AdminAnswer>;
}

export interface AdminAnswer {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a client has no types of its own.
  body: any;
}

/** @param tenant by default that of the runtime */
export async function adminOperator(
  runtime: TestRuntime,
  tenant: Tenant = runtime.tenant,
): Promise<AdminOperator> {
  const { key } = await createApiKey(runtime, tenant, { interface: "admin", name: "operator" });
  const { request } = visitor(runtime);
  const prefix = tenant.id === runtime.tenant.id ? "/admin" : `/t/${tenant.id}/admin`;

  const callWithoutKey: AdminOperator["callWithoutKey"] = async (method, path, body, headers = {}) => {
    const answer = await request(prefix + path, {
      method,
      headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    return {
      status: answer.status,
      headers: answer.headers,
      text,
      body: answer.headers.get("content-type")?.startsWith("application/json;")
        ? JSON.parse(text)
        : undefined,
    };
  };

  return {
    tenant,
    key,
    call: (method, path, body) => callWithoutKey(method, path, body, { authorization: `Bearer ${key}` }),
    callWithoutKey,
  };
}
