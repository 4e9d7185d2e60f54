import { adminAddresses } from "./admin/addresses.ts";
import { authenticatorAddresses } from "./authenticator/addresses.ts";
import { consoleAddresses } from "./console/addresses.ts";
import { authenticatorButtonHandler, authenticatorHandler } from "./dev/authenticator.ts";
import { mailboxHandler, mailPreviewHandler } from "./dev/mailbox.ts";
import { themePreviewHandler, themePreviewSettingsHandler, themePreviewStyleHandler } from "./dev/theme.ts";
import { flowAddresses, graphAddress } from "./flow/addresses.ts";
import { openApiAddresses } from "./openapi/addresses.ts";
import { openidAddresses } from "./openid/addresses.ts";
import { pageAddresses } from "./page/addresses.ts";
import { pagePaths } from "./page/page-requests.ts";
import { passkeyAddresses } from "./passkeys/addresses.ts";
import { providerAddresses } from "./providers/addresses.ts";
import { healthAddresses } from "./service/health.ts";
import { jobsAddress } from "./service/jobs.ts";
import { wellKnownAddresses } from "./service/well-known.ts";
import { sessionAddresses } from "./session/addresses.ts";
import { type Address, address, type ErrorShape, type Route } from "./table/address.ts";

/** Every address of the API. */
export const addresses: readonly Address[] = [
  ...flowAddresses,
  ...providerAddresses,
  ...sessionAddresses,
  ...wellKnownAddresses,
  graphAddress,
  ...pageAddresses,
  jobsAddress,
  ...healthAddresses,
  address("GET", "/dev/mail", mailPreviewHandler, "plain", "local-development"),
  address("GET", "/dev/theme", themePreviewHandler, "plain", "local-development"),
  address("GET", "/dev/theme/style.css", themePreviewStyleHandler, "plain", "local-development"),
  address("GET", "/dev/theme/settings.json", themePreviewSettingsHandler, "plain", "local-development"),
  address("GET", "/dev/mailbox", mailboxHandler, "plain", "local-development"),
  address("GET", "/dev/authenticator", authenticatorHandler, "plain", "local-development"),
  address("POST", "/dev/authenticator", authenticatorButtonHandler, "plain", "local-development"),

  ...passkeyAddresses,
  ...authenticatorAddresses,
  ...openidAddresses,
  ...adminAddresses,
  ...consoleAddresses,
  ...openApiAddresses(() => addresses),
];

/** A route, and the values of the segments in braces. */
export interface Found {
  route: Route;
  params: Record<string, string>;
}

const exact = new Map<string, Route>();
/** Paths with braces by their first segment, so that few expressions are tried. */
const patterns = new Map<string, { expression: RegExp; route: Route }[]>();
/** First segments that belong to the API alone: no page lies below them. */
const prefixes = new Map<string, ErrorShape>();

for (const [path, methods] of Map.groupBy(addresses, (address) => address.path)) {
  const [first] = methods;
  if (!first) continue;
  const route: Route = {
    path,
    methods: new Map(methods.map((address) => [address.method, address])),
    errorShape: methods.find(({ errorShape }) => errorShape === "flow")?.errorShape ?? first.errorShape,
  };
  const prefix = path.split("/")[1] ?? "";
  // Where addresses of one prefix have different error shapes, unknown paths have the plain one.
  const shape = route.errorShape === "flow" ? "plain" : route.errorShape;
  prefixes.set(prefix, (prefixes.get(prefix) ?? shape) === shape ? shape : "plain");
  if (!path.includes("{")) {
    exact.set(path, route);
    continue;
  }
  const expression = new RegExp(`^${path.replaceAll(".", "\\.").replace(/\{(\w+)\}/g, "(?<$1>[^/]+)")}$`);
  patterns.set(prefix, [...(patterns.get(prefix) ?? []), { expression, route }]);
}

/**
 * Finds the route of a path.
 *
 * @param method if several routes match the path, one that has this method is preferred
 * @returns the route; the error shape for an unknown path under a prefix of the API; null for a path outside the API
 */
export function findRoute(path: string, method = "GET"): Found | { unknown: ErrorShape } | null {
  const route = exact.get(path);
  if (route) return { route, params: {} };
  const prefix = path.split("/", 2)[1] ?? "";
  let first: Found | undefined;
  for (const { expression, route } of patterns.get(prefix) ?? []) {
    const params = paramsOf(expression.exec(path));
    if (!params) continue;
    // A user id may equal a fixed segment of another path.
    if (route.methods.has(method)) return { route, params };
    first ??= { route, params };
  }
  if (first) return first;
  const unknown = prefixes.get(prefix);
  return unknown ? { unknown } : null;
}

/** The addresses of a tenant without a host name of its own; see `locate`. */
const TENANT_ADDRESSES = "/t/{tenant}/*";

/** What route files of Next serve: every address of the API, every page, and the tenants. */
export function servedAddresses(): string[] {
  return [...new Set([...addresses.map(({ path }) => path), ...pagePaths, TENANT_ADDRESSES])];
}

/**
 * Whether a route file serves an address of the service.
 *
 * @param served its address, in the notation of the table; `/*` at its end stands for every path below
 * @param address default: any
 */
export function serves(served: string, address?: string): boolean {
  const below = served.endsWith("/*") ? served.slice(0, -1) : null;
  const candidates = address === undefined ? servedAddresses() : [address];
  return candidates.some((path) => path === served || (below !== null && path.startsWith(below)));
}

/** Personal data: applications choose user ids, and often choose the email address. */
const PERSONAL_SEGMENT = "{user_id}";

/** Replaces personal data in a path, so that it can be logged. */
export function loggablePath(method: string, path: string): string {
  const [, tenant = "", rest = path] = /^(\/t\/[^/]+)?(\/.*)$/.exec(path) ?? [];
  const found = findRoute(rest, method === "HEAD" ? "GET" : method);
  if (!found || "unknown" in found || !found.route.path.includes(PERSONAL_SEGMENT)) return path;
  const pattern = found.route.path.split("/");
  const segments = rest
    .split("/")
    .map((segment, index) => (pattern[index] === PERSONAL_SEGMENT ? PERSONAL_SEGMENT : segment));
  return tenant + segments.join("/");
}

/** Decodes the segments in braces. Returns null if one cannot be decoded. */
function paramsOf(match: RegExpExecArray | null): Record<string, string> | null {
  if (!match) return null;
  try {
    const found = Object.entries(match.groups ?? {});
    return Object.fromEntries(found.map(([name, segment]) => [name, decodeURIComponent(segment)]));
  } catch {
    return null;
  }
}
