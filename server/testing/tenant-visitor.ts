import type { Tenant } from "../config/tenant.ts";
import { pathPrefix } from "../http/request/tenant-path.ts";
import type { TestRuntime } from "./runtime.ts";
import { type Visitor, visitor } from "./visitor.ts";

/** Makes a visitor of a tenant. Paths are those of the address table; the tenant's prefix is added. */
export function tenantVisitor(runtime: TestRuntime, { config }: Pick<Tenant, "config">): Visitor {
  const prefix = pathPrefix(config);
  const { host } = new URL(config.base_url);
  const base = visitor(runtime);
  const withHost = (headers: Record<string, string> = {}) => ({ host, ...headers });
  return {
    ...base,
    get setCookies() {
      return base.setCookies;
    },
    request: (path, init = {}) =>
      base.request(prefix + path, {
        ...init,
        headers: withHost(Object.fromEntries(new Headers(init.headers))),
      }),
    post: (path, body, headers) => base.post(prefix + path, body, withHost(headers)),
    submit: (path, fields, headers) => base.submit(prefix + path, fields, withHost(headers)),
    mutate: (procedure, input, headers) =>
      base.post(`${prefix}/api/trpc/${procedure}`, input, {
        "sec-fetch-site": "same-origin",
        ...withHost(headers),
      }),
  };
}
