import { pathPrefix } from "../http/tenant-path.ts";
import type { Tenant } from "../tenants/tenant.ts";
import type { TestRuntime } from "./runtime.ts";
import { type Visitor, visitor } from "./visitor.ts";

/** A browser at a tenant's addresses. Paths are those of the table: what stands before them is put there here. */
export function tenantVisitor(runtime: TestRuntime, { config }: Pick<Tenant, "config">): Visitor {
  const prefix = pathPrefix(config);
  const { host } = new URL(config.base_url);
  const who = visitor(runtime);
  const there = (headers: Record<string, string> = {}) => ({ host, ...headers });
  return {
    ...who,
    get setCookies() {
      return who.setCookies;
    },
    request: (path, init = {}) =>
      who.request(prefix + path, {
        ...init,
        headers: there(Object.fromEntries(new Headers(init.headers))),
      }),
    post: (path, body, headers) => who.post(prefix + path, body, there(headers)),
    submit: (path, fields, headers) => who.submit(prefix + path, fields, there(headers)),
    mutate: (procedure, input, headers) =>
      who.post(`${prefix}/api/trpc/${procedure}`, input, {
        "sec-fetch-site": "same-origin",
        ...there(headers),
      }),
  };
}
