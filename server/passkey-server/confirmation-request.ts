import { clockText } from "#db/clock";
import { type WriteOfParts, writeOf } from "#db/write";
import type { Config } from "../config/schema.ts";
import type { TenantContext } from "../context/context.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { randomToken } from "../lib/random-token.ts";
import { sha256 } from "../lib/sha256.ts";
import { isAllowedRedirect, parseRedirectTarget } from "../redirects/redirect-target.ts";

/** Options of a transaction that the user confirms on the confirmation page. */
export interface ConfirmationOptions {
  /** Redirect URL after the answer. */
  redirectTo: string;
}

const insertText = `confirmation as (
  insert into transaction_confirmations (tenant_id, transaction_id, page_token_hash, redirect_to, expires_at)
  values ($1, $2, $3, $4,
    ${clockText("$5")} + $6::int * interval '1 second'))`;

export type PreparedConfirmation =
  | {
      ok: true;
      /** URL of the page. It contains a token of 256 bits, of which only the hash is stored. */
      url: string;
      /** Returns the write of the page, to commit with the passkey transaction. */
      write(transactionId: string, seconds: number): WriteOfParts;
    }
  /** For developers of applications. */
  | { ok: false; details: string };

/** Creates the page's URL, if the page may use the relying party's passkeys and the redirect is allowed. */
export function prepareConfirmation(
  { runtime, tenant }: TenantContext<OnPlatform>,
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
    write: (transactionId, seconds) =>
      writeOf({
        name: "confirmation",
        text: insertText,
        values: [
          tenant.id,
          transactionId,
          sha256(token),
          target.href,
          runtime.platform.clockShift(),
          seconds,
        ],
      }),
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
