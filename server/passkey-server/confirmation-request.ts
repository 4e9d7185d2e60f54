import { sql } from "drizzle-orm";
import { schema, type Transaction } from "#db/client";
import { databaseNow } from "#db/clock";
import type { Config } from "../config/schema.ts";
import { randomToken } from "../lib/random-token.ts";
import { sha256 } from "../lib/sha256.ts";
import { isAllowedRedirect, parseRedirectTarget } from "../redirects/redirect-target.ts";
import type { RequestContext } from "../runtime.ts";

/** Options of a transaction that the user confirms on the confirmation page. */
export interface ConfirmationOptions {
  /** Redirect URL after the answer. */
  redirectTo: string;
}

const { transactionConfirmations: table } = schema;

export type PreparedConfirmation =
  | {
      ok: true;
      /** URL of the page. It contains a token of 256 bits, of which only the hash is stored. */
      url: string;
      /** Must run in the database transaction that stores the passkey transaction. */
      write(tx: Transaction, transactionId: string, seconds: number): Promise<void>;
    }
  /** For developers of applications. */
  | { ok: false; details: string };

/** Creates the page's URL, if the page may use the relying party's passkeys and the redirect is allowed. */
export function prepareConfirmation(
  { runtime, tenant }: Pick<RequestContext, "runtime" | "tenant">,
  { redirectTo }: ConfirmationOptions,
): PreparedConfirmation {
  const { config } = tenant;
  const { origins } = config.passkey_server.relying_party;
  const page = pageUrl(config);
  if (!origins.some((origin) => origin.toLowerCase() === page.origin)) {
    const details = `confirmation: the page at ${page.origin} cannot use this relying party's passkeys: it is not one of its origins (passkey_server.relying_party.origins)`;
    return { ok: false, details };
  }
  const target = allowedReturnUrl(config, redirectTo);
  if (target === null) {
    const details = "confirmation.redirect_to is not an allowed address (hosted.allowed_redirect_urls)";
    return { ok: false, details };
  }
  const token = randomToken(runtime.platform);
  page.searchParams.set("token", token);
  return {
    ok: true,
    url: page.href,
    async write(tx, transactionId, seconds) {
      const now = databaseNow(runtime.platform.clockShift());
      await tx.insert(table).values({
        tenantId: tenant.id,
        transactionId,
        pageTokenHash: sha256(token),
        redirectTo: target.href,
        expiresAt: sql`${now} + ${seconds}::int * interval '1 second'`,
      });
    },
  };
}

function pageUrl({ base_url }: Config): URL {
  return new URL(`${base_url.replace(/\/$/, "")}/confirm`);
}

/** Parses a redirect URL; null if it is not allowed. */
export function allowedReturnUrl({ hosted }: Config, address: string): URL | null {
  const target = parseRedirectTarget(address);
  return target && isAllowedRedirect(target, hosted.allowed_redirect_urls) ? target : null;
}
