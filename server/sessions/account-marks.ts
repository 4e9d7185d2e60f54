import type { ClientContext, RequestContext } from "../context/context.ts";
import { BrokenSealError, type Sealing, UnknownKeyError } from "../keys/vault.ts";
import { isCanonicalUuid } from "../lib/uuid.ts";

/** What this module takes of the process. */
type Process = Sealing;

/**
 * Account marks: which accounts a browser has signed in to before, and how. A mark gives access to nothing. It lets the
 * owner of an account have a code mailed from a reserve that strangers cannot use up, counts wrong passwords apart,
 * leads straight to the method that was used last, and says by which identifier the user knows the account. All marks of a
 * browser are in one sealed cookie of a tenant.
 */

const MARK_SECONDS = 365 * 86_400;

/** Marks in one cookie, newest first, so that it stays well below the 4096 bytes of a cookie (RFC 6265 section 6.1). */
const MAX_MARKS = 8;

/** A longer value is not one of ours and is not decrypted. */
const MAX_COOKIE_LENGTH = 1536;

/** Bytes of the marks before they are sealed: browsers send the cookie with each request. The newest identifiers that fit are kept. */
const MAX_TEXT_BYTES = 690;

/** The way in of a sign-in: a method of the account itself, or the id of an identity provider. */
export type MarkedMethod = { method: (typeof markedMethods)[number] } | { provider: string };

interface Mark {
  userId: string;
  /** Time of the sign-in, in seconds since 1970. */
  at: number;
  /** As in the cookie: a key of `methodCodes`, or `@` and the id of a provider; empty if unknown. */
  method: string;
  /** As it was known at the sign-in; empty if it is not kept. */
  identifier: string;
}

const methodCodes = { w: "password", c: "passcode", s: "sms", k: "passkey" } as const;

/** The methods that a mark names: those that an identifier can lead to. */
export const markedMethods = Object.values(methodCodes);

/** Ids of providers that the cookie can hold: `google`, `custom_acme`. */
const providerPattern = /^[a-z0-9_-]{1,40}$/;

/** Whether the browser has signed in to the account before, or is signed in to it. */
export function hasSignedInBefore(
  context: ClientContext<Process> & Pick<RequestContext<Process>, "session">,
  userId: string,
): boolean {
  return context.session?.userId === userId || marksOf(context).some((mark) => mark.userId === userId);
}

/** Returns how the browser signed in to the account last; null for a browser without a mark of it. */
export function lastMethodHere(context: ClientContext<Process>, userId: string): MarkedMethod | null {
  const { method = "" } = marksOf(context).find((mark) => mark.userId === userId) ?? {};
  if (method.startsWith("@")) return { provider: method.slice(1) };
  return Object.hasOwn(methodCodes, method)
    ? { method: methodCodes[method as keyof typeof methodCodes] }
    : null;
}

/** An account that a browser has signed in to, as the browser knows it. */
export interface KnownAccount {
  userId: string;
  /** By which the user has signed in, or was shown the account then. */
  identifier: string;
}

/** The accounts of the browser whose identifiers it keeps, the one that has signed in last first. */
export const knownAccounts = (context: MarkContext & { now: Date }): KnownAccount[] =>
  marksOf(context)
    .filter(({ identifier }) => identifier !== "")
    .map(({ userId, identifier }) => ({ userId, identifier }));

/**
 * Marks an account in the browser that has just signed in to it; marks of other accounts stay.
 *
 * @param used how it signed in; null keeps what an earlier mark of the account says
 * @param identifier what the browser is to know the account by; null: nothing; undefined keeps what an earlier mark says
 * @returns the new value of the cookie, and its lifetime
 */
export function markAccount(
  context: ClientContext<Process>,
  userId: string,
  used: MarkedMethod | null,
  identifier?: string | null,
): { value: string; seconds: number } {
  const present = marksOf(context);
  const others = present.filter((mark) => mark.userId !== userId);
  const before = present.find((mark) => mark.userId === userId);
  const mark = {
    userId,
    at: Math.floor(context.now.getTime() / 1000),
    method: used === null ? (before?.method ?? "") : codeOf(used),
    identifier: identifier === undefined ? (before?.identifier ?? "") : (identifier ?? ""),
  };
  return cookieOf(context, [mark, ...others].slice(0, MAX_MARKS));
}

/**
 * Removes the mark of an account: the browser is to the account as one that has never signed in to it.
 *
 * @returns the new value of the cookie, and its lifetime
 */
export function unmarkAccount(
  context: ClientContext<Process>,
  userId: string,
): { value: string; seconds: number } {
  return cookieOf(
    context,
    marksOf(context).filter((mark) => mark.userId !== userId),
  );
}

function cookieOf(
  { runtime, tenant }: Pick<ClientContext<Process>, "runtime" | "tenant">,
  marks: readonly Mark[],
): { value: string; seconds: number } {
  const withKnown = (count: number) =>
    marks
      .map(({ userId, at, method, identifier }, index) => {
        const known =
          index < count && identifier !== ""
            ? `:${encodeURIComponent(identifier.toWellFormed()).replaceAll("%40", "@")}`
            : "";
        return `${userId}:${at}:${method}${known}`;
      })
      .join("|");
  let count = marks.length;
  while (count > 0 && withKnown(count).length > MAX_TEXT_BYTES) count -= 1;
  const sealed = runtime.vault.seal(Buffer.from(withKnown(count)), sealContext(tenant.id));
  return { value: sealed.toString("base64url"), seconds: MARK_SECONDS };
}

function codeOf(used: MarkedMethod): string {
  if ("provider" in used) return providerPattern.test(used.provider) ? `@${used.provider}` : "";
  const [code = ""] = Object.entries(methodCodes).find(([, method]) => method === used.method) ?? [];
  return code;
}

/** Ids of the accounts that the browser has a mark of, expired or not. */
export function markedAccounts(context: MarkContext): string[] {
  return everyMarkOf(context).map(({ userId }) => userId);
}

/** The marks of the browser that have not expired. */
function marksOf(context: MarkContext & { now: Date }): Mark[] {
  const oldest = context.now.getTime() / 1000 - MARK_SECONDS;
  return everyMarkOf(context).filter(({ at }) => at > oldest);
}

/** What is known of a browser that has marks. */
export type MarkContext = Pick<ClientContext<Process>, "runtime" | "tenant"> & {
  client: Pick<ClientContext<Process>["client"], "markCookie">;
};

/** The marks of the browser; none if the cookie is not one of ours. */
function everyMarkOf({ runtime, tenant, client }: MarkContext): Mark[] {
  const cookie = client.markCookie;
  if (cookie === null || cookie.length > MAX_COOKIE_LENGTH) return [];
  let text: string;
  try {
    text = runtime.vault.unseal(Buffer.from(cookie, "base64url"), sealContext(tenant.id)).toString();
  } catch (error) {
    // Any client can send any value; a mark of a removed key is replaced by the next sign-in.
    if (error instanceof BrokenSealError || error instanceof UnknownKeyError) return [];
    throw error;
  }
  return text
    .split("|")
    .map((entry) => entry.split(":"))
    .map(([userId = "", at, method = "", known = ""]) => ({
      userId,
      at: Number(at),
      method,
      identifier: decodeURIComponent(known),
    }))
    .filter(({ userId, at }) => isCanonicalUuid(userId) && !Number.isNaN(at));
}

const sealContext = (tenantId: string) => `account marks of tenant ${tenantId}`;
