import { z } from "zod";
import type { Tenant } from "../../config/tenant.ts";
import { type Sealing, UnknownKeyError } from "../../keys/vault.ts";
import { messagesOf, type PasscodeMail } from "../../mail/messages.ts";

/**
 * The link of a mail with a code. It is a second form of that code: a reader of the link reads the code in the same mail.
 * Nothing is stored for it. Its token holds the code, sealed, with the key of the code's row, so that it is used, counted,
 * replaced and expires with that row (`server/methods/passcode/passcodes.ts`).
 */

/** Path of the page that a link opens, within its tenant. */
export const MAILED_LINK_PATH = "/mailed-link";

/** A mailed code, and the key of its row. */
export interface MailedCode {
  flowId: string;
  purpose: PasscodeMail;
  /** The keyed hash of the recipient's address, as the row has it. */
  recipient: Buffer;
  code: string;
  expiresAt: Date;
}

/** Sealed tokens have about 250 characters. */
const MAX_TOKEN_CHARACTERS = 512;

const RECIPIENT_BYTES = 32;

/** What is sealed; short, because plain text shows the whole address. */
const content = z.tuple([
  z.uuid(),
  z.enum(messagesOf("passcode")),
  z.base64url().transform((text) => Buffer.from(text, "base64url")),
  z.string().length(6),
  z.int().describe("Milliseconds since 1970."),
]);

/** The place of a token: one that was sealed for another tenant does not open. */
const contextOf = ({ id }: Tenant) => `mailed link/${id}`;

/** Returns the link of a code, under the public address of the tenant. */
export function mailedLink(
  { vault }: Sealing,
  tenant: Tenant,
  { flowId, purpose, recipient, code, expiresAt }: MailedCode,
): string {
  const sealed: z.input<typeof content> = [
    flowId,
    purpose,
    recipient.toString("base64url"),
    code,
    expiresAt.getTime(),
  ];
  const token = vault.seal(Buffer.from(JSON.stringify(sealed)), contextOf(tenant)).toString("base64url");
  return `${tenant.config.base_url}${MAILED_LINK_PATH}?${new URLSearchParams({ token })}`;
}

/**
 * Opens the token of a link. Whether its code is still valid is another question.
 *
 * @returns null if it was not sealed by this service for this tenant, or cannot be read
 * @throws UnknownKeyError if it was sealed with a key that this process lacks
 */
export function openMailedLink({ vault }: Sealing, tenant: Tenant, token: string): MailedCode | null {
  if (token.length > MAX_TOKEN_CHARACTERS || !/^[\w-]+$/.test(token)) return null;
  const parsed = content.safeParse(unsealed(vault, tenant, Buffer.from(token, "base64url")));
  if (!parsed.success) return null;
  const [flowId, purpose, recipient, code, expiresAt] = parsed.data;
  if (recipient.length !== RECIPIENT_BYTES) return null;
  return { flowId, purpose, recipient, code, expiresAt: new Date(expiresAt) };
}

/** @returns undefined if the value was changed, cut, or sealed for another place */
function unsealed(vault: Sealing["vault"], tenant: Tenant, sealed: Buffer): unknown {
  try {
    return JSON.parse(vault.unseal(sealed, contextOf(tenant)).toString());
  } catch (error) {
    // A client can name any key.
    if (error instanceof UnknownKeyError) throw new UnknownKeyError(error.keyId, "client");
    return undefined;
  }
}
