import type { Databases } from "#db/client";
import { factsById } from "../identity/facts.ts";
import { firstIdentifier } from "../identity/identifiers.ts";
import { maskedIdentifier } from "../lib/masked-identifier.ts";
import { sha256 } from "../lib/sha256.ts";
import type { Session } from "../objects/session.ts";
import { knownAccounts, type MarkContext } from "../sessions/account-marks.ts";

/** A browser at a moment. */
export type BrowserContext<Process = unknown> = MarkContext & { runtime: Process; now: Date };

/** An account that the user of a browser may choose. */
export interface BrowserAccount {
  /** Names it among those of the browser; `session` is the one that is signed in. */
  key: string;
  /** What is shown of it. */
  name: string;
}

/** The key of the account that is signed in. */
export const OF_SESSION = "session";

/**
 * The accounts of a browser: the one that is signed in, by its own identifier, and those that have signed in before, by what the
 * browser knew of them then, masked. Of these nothing is read, so that a copy of the cookie tells nothing of an account: not
 * whether it exists, is blocked, or has another address now.
 */
export async function browserAccounts(
  context: BrowserContext<Databases>,
  session: Session | undefined,
): Promise<BrowserAccount[]> {
  const { runtime, tenant } = context;
  const owner = session && (await factsById(runtime.database.read, tenant.id, session.userId));
  const own = owner && firstIdentifier(owner);
  const others = knownAccounts(context).filter(({ userId }) => !own || userId !== session?.userId);
  return [
    ...(own ? [{ key: OF_SESSION, name: own.value }] : []),
    ...others.map(({ userId, identifier }) => ({ key: keyOf(userId), name: maskedIdentifier(identifier) })),
  ];
}

/** The account of a key, as the browser knows it; null if the browser does not know it any more. */
export const knownAccount = (context: BrowserContext, key: string) =>
  knownAccounts(context).find(({ userId }) => keyOf(userId) === key) ?? null;

/** The id of an account is not for the browser to know. */
const keyOf = (userId: string): string =>
  sha256(`an account of a browser ${userId}`).toString("base64url").slice(0, 16);
