import { createSign, generateKeyPairSync, type KeyObject } from "node:crypto";
import type { Visitor } from "./visitor.ts";

/**
 * A browser that binds sessions to keys of its device, after the algorithms of the W3C draft (`webappsec-dbsc`, February 2026;
 * sections are cited). It shares no code with the service.
 */
export interface DeviceBoundBrowser extends Visitor {
  /** The bound sessions, by identifier. */
  readonly bound: Map<string, BoundSession>;
  /** The requests that it has made by itself, in order, with the status of their answers. */
  readonly calls: { path: string; status: number; proof: string | null }[];
  /** Whether keys are registered as soon as an answer asks for it; if not, `register` does it. */
  registers: boolean;
  /** Answers the last `Secure-Session-Registration` that was put off. */
  register(): Promise<Response | null>;
  /** How many more refreshes its policy allows; further requests go out without, and say so. */
  quota: number;
  /** Whether it sends texts in quotation marks, as the draft has it (RFC 9651, 3.3.3), or without, as Chromium does. */
  quotes: boolean;
  /** A copy of its cookies, as a thief would have it: name and value of those that have not expired. */
  cookieHeader(...without: string[]): string;
}

export interface BoundSession {
  id: string;
  refreshUrl: URL;
  challenge: string | null;
  scope: { origin: string; includeSite: boolean; rules: Rule[] };
  credentials: { name: string; attributes: string }[];
  initiators: string[];
  key: Key;
}

interface Rule {
  type: "include" | "exclude";
  domain?: string;
  path?: string;
}

interface Key {
  algorithm: "ES256" | "RS256";
  privateKey: KeyObject;
  jwk: JsonWebKey;
}

interface Cookie {
  name: string;
  value: string;
  attributes: Map<string, string>;
  /** The host that set it, and whether other hosts of its domain get it. */
  host: string;
  expiresAt: number;
}

/** What sends a request, without following redirects. */
type Transport = (request: Request) => Promise<Response>;

/**
 * @param origin of the service
 * @param clock milliseconds since 1970, by which cookies expire
 * @param supported algorithms of its keys, those that it prefers first
 */
export function deviceBoundBrowser(
  origin: string,
  send: Transport,
  clock: () => number,
  supported: readonly Key["algorithm"][] = ["ES256", "RS256"],
): DeviceBoundBrowser {
  let jar: Cookie[] = [];
  let setCookies: string[] = [];
  const bound = new Map<string, BoundSession>();
  const calls: DeviceBoundBrowser["calls"] = [];
  let putOff: (() => Promise<Response | null>) | null = null;

  const cookiesFor = (url: URL) => jar.filter((cookie) => cookie.expiresAt > clock() && goesTo(cookie, url));

  function keepCookies(url: URL, response: Response): void {
    setCookies = response.headers.getSetCookie();
    for (const line of setCookies) {
      const cookie = parsed(line, url.hostname, clock());
      jar = jar.filter((other) => other.name !== cookie.name || pathOf(other) !== pathOf(cookie));
      if (cookie.expiresAt > clock()) jar.push(cookie);
    }
  }

  const sent = (text: string) => (browser.quotes ? quoted(text) : text);

  /** Section 8.5, in the order of Chromium. */
  const inNeed = (url: URL, initiator: string, deferred: Set<string>) =>
    [...bound.values()]
      .toSorted((one, other) => (one.id < other.id ? -1 : 1))
      .find(
        (session) =>
          !deferred.has(session.id) &&
          isInScope(url, session) &&
          mayRefresh(initiator, session) &&
          session.credentials.some((credential) => isMissing(credential, url)),
      );

  /** Section 8.6. */
  function isMissing({ name, attributes }: BoundSession["credentials"][number], url: URL): boolean {
    const like = parsed(`${name}=x; ${attributes}`, url.hostname, clock());
    if (!goesTo(like, url)) return false;
    return !cookiesFor(url).some((cookie) => cookie.name === name && isAlike(cookie, like));
  }

  async function call(url: URL, headers: Record<string, string>): Promise<Response> {
    const cookies = cookiesFor(url);
    const response = await send(
      new Request(url, {
        method: "POST",
        headers: {
          host: url.host,
          ...(cookies.length > 0 ? { cookie: joined(cookies) } : {}),
          ...headers,
        },
      }),
    );
    keepCookies(url, response);
    const proof = headers["secure-session-response"] ?? null;
    calls.push({ path: url.pathname, status: response.status, proof });
    return response;
  }

  /** Section 8.8, for a refresh. */
  async function refresh(session: BoundSession): Promise<"renewed" | "ended" | "server_error"> {
    for (let attempt = 0; attempt < 3; attempt++) {
      const response = await call(session.refreshUrl, {
        "sec-secure-session-id": sent(session.id),
        ...(session.challenge === null
          ? {}
          : { "secure-session-response": sent(proofOf(session.challenge, session.key)) }),
      });
      keepChallenges(response);
      if (response.status === 403) continue;
      if (response.status >= 500 || response.status === 429 || response.status === 407) return "server_error";
      if (response.status >= 400) {
        bound.delete(session.id);
        return "ended";
      }
      session.challenge = challengeIn(response).get(session.id) ?? null;
      await createSession(response, session.refreshUrl, session.key, session.id);
      return "renewed";
    }
    return "server_error";
  }

  /** Section 8.9. */
  async function createSession(response: Response, url: URL, key: Key, id: string | null): Promise<void> {
    const text = await response.clone().text();
    if (id !== null && text === "") return;
    const told = JSON.parse(text);
    if (told.continue === false) return void (id !== null && bound.delete(id));
    const session: BoundSession = {
      id: told.session_identifier,
      refreshUrl: new URL(told.refresh_url ?? url, url),
      challenge: null,
      scope: {
        origin: told.scope.origin ?? url.origin,
        includeSite: told.scope.include_site,
        rules: told.scope.scope_specification ?? [],
      },
      credentials: told.credentials.map((credential: { type: string; name: string; attributes?: string }) => {
        if (credential.type !== "cookie") throw new Error(`a credential of type ${credential.type}`);
        return { name: credential.name, attributes: credential.attributes ?? "" };
      }),
      initiators: told.allowed_refresh_initiators ?? [],
      key,
    };
    if (id !== null && id !== session.id) throw new Error("the refresh answered for another session");
    if (typeof session.scope.includeSite !== "boolean") throw new Error("include_site is missing");
    const { hostname } = new URL(session.scope.origin);
    if (url.hostname !== hostname && !(session.scope.includeSite && url.hostname.endsWith(`.${hostname}`)))
      throw new Error("the scope is that of another host");
    if (session.credentials.some(({ attributes }) => /partitioned/i.test(attributes)))
      throw new Error("a bound cookie must not be partitioned");
    if (session.refreshUrl.protocol !== "https:" && session.refreshUrl.hostname !== "localhost")
      throw new Error("the refresh URL is not secure");
    const isSettable = session.credentials.some(({ name, attributes }) =>
      setCookies.some((line) =>
        isAlike(
          parsed(line, url.hostname, clock()),
          parsed(`${name}=x; ${attributes}`, url.hostname, clock()),
        ),
      ),
    );
    if (!isSettable) throw new Error("no cookie of the answer is as the instructions say");
    bound.set(session.id, session);
    keepChallenges(response);
  }

  /** Section 8.7. */
  function keepChallenges(response: Response): void {
    for (const [id, challenge] of challengeIn(response)) {
      const session = bound.get(id);
      if (session) session.challenge = challenge;
    }
  }

  /** Sections 8.10 and 8.11. */
  function registration(response: Response, from: URL): (() => Promise<Response | null>) | null {
    const header = response.headers.get("secure-session-registration");
    if (header === null) return null;
    const [, list = "", rest = ""] = /^\(([^)]*)\)(.*)$/.exec(header) ?? [];
    const offered = list.split(" ");
    const algorithm = supported.find((name) => offered.includes(name));
    const path = parameter(rest, "path");
    const challenge = parameter(rest, "challenge");
    if (!algorithm || path === null) return null;
    return async () => {
      const key = newKey(algorithm);
      const url = new URL(path, from);
      const proof = proofOf(challenge ?? "", key, parameter(rest, "authorization"), true);
      const answer = await call(url, { "secure-session-response": sent(proof) });
      if (answer.ok) await createSession(answer, url, key, null);
      return answer;
    };
  }

  const browser: DeviceBoundBrowser = {
    bound,
    calls,
    registers: true,
    quota: Number.POSITIVE_INFINITY,
    quotes: true,
    get cookies() {
      const live = jar.filter(({ expiresAt }) => expiresAt > clock());
      return new Map(live.map(({ name, value }) => [name, value]));
    },
    get setCookies() {
      return setCookies;
    },
    cookieHeader: (...without) =>
      joined(jar.filter(({ name, expiresAt }) => expiresAt > clock() && !without.includes(name))),
    async register() {
      const answer = await (putOff?.() ?? null);
      putOff = null;
      return answer;
    },
    async request(path, init = {}) {
      const url = new URL(path, origin);
      const headers = new Headers(init.headers);
      headers.set("host", url.host);
      const initiator = headers.get("origin") ?? url.origin;
      const deferred = new Set<string>();
      const skipped: string[] = [];
      for (let next = inNeed(url, initiator, deferred); next; next = inNeed(url, initiator, deferred)) {
        deferred.add(next.id);
        // Section 8.8, step 1.
        const outcome = browser.quota-- > 0 ? await refresh(next) : "quota_exceeded";
        if (outcome === "quota_exceeded" || outcome === "server_error")
          skipped.push(`${outcome};session_identifier=${quoted(next.id)}`);
      }
      // Section 8.12.
      if (skipped.length > 0) headers.set("secure-session-skipped", skipped.join(", "));
      const cookies = cookiesFor(url);
      if (cookies.length > 0 && !headers.has("cookie")) headers.set("cookie", joined(cookies));
      const response = await send(new Request(url, { redirect: "manual", ...init, headers }));
      keepCookies(url, response);
      const answered = setCookies;
      keepChallenges(response);
      const register = registration(response, url);
      if (register && browser.registers) await register();
      else if (register) putOff = register;
      setCookies = answered;
      return response;
    },
    post: (path, body, headers = {}) =>
      browser.request(path, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      }),
    submit: (path, fields, headers = {}) =>
      browser.request(path, {
        method: "POST",
        body: new URLSearchParams(fields),
        headers: { "sec-fetch-site": "same-origin", ...headers },
      }),
    mutate: (procedure, input, headers = {}) =>
      browser.post(`/api/trpc/${procedure}`, input, { "sec-fetch-site": "same-origin", ...headers }),
  };
  return browser;
}

/** Makes a proof (section 9.10). */
function proofOf(
  challenge: string,
  key: Key,
  authorization: string | null = null,
  isRegistration = false,
): string {
  const header = { alg: key.algorithm, typ: "dbsc+jwt", ...(isRegistration ? { jwk: key.jwk } : {}) };
  const claims = { jti: challenge, ...(authorization === null ? {} : { authorization }) };
  const text = [header, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  const signature = createSign("sha256")
    .update(text)
    .sign({ key: key.privateKey, dsaEncoding: "ieee-p1363" });
  return `${text}.${signature.toString("base64url")}`;
}

function newKey(algorithm: Key["algorithm"]): Key {
  const { privateKey, publicKey } =
    algorithm === "ES256"
      ? generateKeyPairSync("ec", { namedCurve: "P-256" })
      : generateKeyPairSync("rsa", { modulusLength: 2048 });
  return { algorithm, privateKey, jwk: publicKey.export({ format: "jwk" }) as JsonWebKey };
}

/** Section 8.2. */
function isInScope(url: URL, { scope, refreshUrl }: BoundSession): boolean {
  const { hostname } = new URL(scope.origin);
  const isOfSite = url.hostname === hostname || url.hostname.endsWith(`.${hostname}`);
  if (scope.includeSite ? !isOfSite : url.origin !== scope.origin) return false;
  if (url.href === refreshUrl.href) return false;
  for (const { type, domain = "*", path = "/" } of scope.rules.toReversed()) {
    if (!isHost(url.hostname, domain)) continue;
    const { pathname } = url;
    if (
      pathname === path ||
      (path.endsWith("/") && pathname.startsWith(path)) ||
      pathname.startsWith(`${path}/`)
    )
      return type === "include";
  }
  return true;
}

/** Section 8.3. */
const mayRefresh = (initiator: string, { scope, initiators }: BoundSession) =>
  initiator === scope.origin || initiators.some((pattern) => isHost(new URL(initiator).hostname, pattern));

/** Section 8.4. */
const isHost = (host: string, pattern: string) =>
  pattern === "*" || host === pattern || (pattern.startsWith("*.") && host.endsWith(pattern.slice(1)));

/** `Secure-Session-Challenge` of an answer, by session (section 9.2). */
const challengeIn = (response: Response): Map<string, string> =>
  new Map(
    [...(response.headers.get("secure-session-challenge") ?? "").matchAll(/"([^"]*)";id="([^"]*)"/g)].map(
      ([, challenge = "", id = ""]) => [id, challenge],
    ),
  );

const parameter = (parameters: string, name: string) =>
  new RegExp(`;${name}="([^"]*)"`).exec(parameters)?.[1] ?? null;

const quoted = (text: string) => `"${text}"`;

const joined = (cookies: readonly Cookie[]) =>
  cookies.map(({ name, value }) => `${name}=${value}`).join("; ");

/** A `Set-Cookie` line (RFC 6265bis, 5.6). */
function parsed(line: string, host: string, now: number): Cookie {
  const [pair = "", ...rest] = line.split(/; ?/);
  const attributes = new Map(
    rest.filter(Boolean).map((attribute): [string, string] => {
      const [name = "", value = ""] = attribute.split("=");
      return [name.toLowerCase(), value];
    }),
  );
  const maxAge = attributes.get("max-age");
  const expiresAt = maxAge === undefined ? Number.POSITIVE_INFINITY : now + Number(maxAge) * 1000;
  return {
    name: pair.slice(0, pair.indexOf("=")),
    value: pair.slice(pair.indexOf("=") + 1),
    attributes,
    host,
    expiresAt,
  };
}

const pathOf = ({ attributes }: Cookie) => attributes.get("path") ?? "/";

/** Whether a request carries a cookie, as far as host and path tell. */
function goesTo(cookie: Cookie, { hostname, pathname }: URL): boolean {
  const domain = cookie.attributes.get("domain");
  const isForHost = domain
    ? hostname === domain || hostname.endsWith(`.${domain}`)
    : hostname === cookie.host;
  const path = pathOf(cookie);
  return isForHost && (pathname === path || pathname.startsWith(path.endsWith("/") ? path : `${path}/`));
}

/** Whether two cookies have the same Domain, Path, Secure, HttpOnly and SameSite (section 8.6). */
const isAlike = (one: Cookie, other: Cookie) =>
  one.name === other.name &&
  ["domain", "path", "secure", "httponly", "samesite"].every(
    (name) => one.attributes.get(name) === other.attributes.get(name),
  );
