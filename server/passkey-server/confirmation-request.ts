import { createHash } from "node:crypto";
import { sql } from "drizzle-orm";
import { schema, type Transaction } from "#db/client";
import { databaseNow } from "#db/clock";
import type { Config } from "../config/schema.ts";
import { isAllowedRedirect, parseRedirectTarget } from "../redirects/redirect-target.ts";
import type { RequestContext } from "../runtime.ts";

/** An application's wish to have our own page show a transaction to its user, and ask for their passkey. */
export interface ConfirmationOptions {
  /** Where the page sends the user afterwards. */
  redirectTo: string;
}

const { transactionConfirmations: table } = schema;

export type PreparedConfirmation =
  | {
      ok: true;
      /** The page's address. It holds a token of 256 bits, which only its hash is kept of. */
      url: string;
      /** Belongs to the transaction that is opened. */
      write(tx: Transaction, transactionId: string, seconds: number): Promise<void>;
    }
  /** In words for the people who build applications. */
  | { ok: false; details: string };

/** Makes the page's address, where the page may ask and may send the user back. */
export function prepareConfirmation(
  { runtime, tenant }: Pick<RequestContext, "runtime" | "tenant">,
  { redirectTo }: ConfirmationOptions,
): PreparedConfirmation {
  const { config } = tenant;
  const { origins } = config.passkey_server.relying_party;
  const page = pageUrl(config);
  if (!origins.some((origin) => origin.toLowerCase() === page.origin)) {
    const details = `confirmation: the page at ${page.origin} cannot use this relying party's passkeys, since that is not one of its origins (passkey_server.relying_party.origins)`;
    return { ok: false, details };
  }
  const target = allowedReturnUrl(config, redirectTo);
  if (target === null) {
    const details = "confirmation.redirect_to is not an allowed address (hosted.allowed_redirect_urls)";
    return { ok: false, details };
  }
  const token = runtime.platform.randomBytes(32).toString("base64url");
  page.searchParams.set("token", token);
  return {
    ok: true,
    url: page.href,
    async write(tx, transactionId, seconds) {
      const now = databaseNow(runtime.platform.clockShift());
      await tx.insert(table).values({
        tenantId: tenant.id,
        transactionId,
        pageTokenHash: secretHash(token),
        redirectTo: target.href,
        expiresAt: sql`${now} + ${seconds}::int * interval '1 second'`,
      });
    },
  };
}

function pageUrl({ base_url }: Config): URL {
  return new URL(`${base_url.replace(/\/$/, "")}/confirm`);
}

/** An address that users may be sent to; null for any other. */
export function allowedReturnUrl({ hosted }: Config, address: string): URL | null {
  const target = parseRedirectTarget(address);
  return target && isAllowedRedirect(target, hosted.allowed_redirect_urls) ? target : null;
}

/** What is kept of a token, or of a code. */
export function secretHash(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}
