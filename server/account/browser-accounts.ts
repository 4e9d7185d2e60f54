import type { Databases } from "#db/client";
import { factsById } from "../identity/facts.ts";
import { firstIdentifier } from "../identity/identifiers.ts";
import type { Sealing } from "../keys/vault.ts";
import { maskedIdentifier } from "../lib/masked-identifier.ts";
import type { Session } from "../objects/session.ts";
import { type KnownAccount, knownAccounts, type MarkContext } from "../sessions/account-marks.ts";

/** A browser at a moment. */
export type BrowserContext<Process = unknown> = MarkContext & { runtime: Process; now: Date };

/** An account that the user of a browser may choose. */
export interface BrowserAccount {
  /**
   * Names it among those of the browser, for one request and while one user is signed in: a page that another window has left
   * behind names none. That of the account which is signed in begins with `session.`.
   */
  key: string;
  /** What is shown of it. */
  name: string;
}

/** Stands for the account that is signed in, in its key. */
const OF_SESSION = "session";

/** Whether a key is that of the account that is signed in. */
export const isOfSession = (key: string): boolean => key.startsWith(`${OF_SESSION}.`);

/**
 * The accounts of a browser: the one that is signed in, by its own identifier, and those that have signed in before, by what the
 * browser knew of them then, masked. Nothing is read of those, so that a copy of the cookie tells nothing of an account: not
 * whether it exists, is blocked, or has another address now.
 *
 * @param request that the user chooses for
 */
export async function browserAccounts(
  context: BrowserContext<Databases & Sealing>,
  request: string,
  session: Session | undefined,
): Promise<BrowserAccount[]> {
  const { runtime, tenant } = context;
  const owner = session && (await factsById(runtime.database.read, tenant.id, session.userId));
  const own = owner && firstIdentifier(owner);
  const others = knownAccounts(context).filter(({ userId }) => !own || userId !== session?.userId);
  const question = named(context, "question", request, session?.userId ?? "");
  return [
    ...(own ? [{ key: `${OF_SESSION}.${question}`, name: own.value }] : []),
    ...others.map(({ userId, identifier }) => ({
      key: `${named(context, "account", userId)}.${question}`,
      name: maskedIdentifier(identifier),
    })),
  ];
}

/** The account of a key, as the browser knows it; null if the browser does not know it any more. */
export function knownAccount(context: BrowserContext<Sealing>, key: string): KnownAccount | null {
  const [account] = key.split(".");
  return knownAccounts(context).find(({ userId }) => named(context, "account", userId) === account) ?? null;
}

/** Names what the browser is not to know, nor to compare with what others know. */
const named = ({ runtime, tenant }: BrowserContext<Sealing>, ...what: string[]): string =>
  runtime.vault
    .mac("account of a browser", tenant.id, ...what)
    .toString("base64url")
    .slice(0, 16);
