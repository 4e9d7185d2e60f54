/** Characters of an answer that are kept. A line of SMTP has at most 512 (RFC 5321, 4.5.3.1.5). */
const MAX_LENGTH = 200;

/** Characters that are looked through for addresses, which takes the square of their number. */
const MAX_READ_LENGTH = 2_000;

/**
 * Prepares the answer of a mail server for the audit log: one line of printable ASCII without addresses and without the
 * secrets of the mail, because a server may quote what it was sent.
 *
 * @param secrets the code of the mail, if it has one
 */
export function cleanAnswer(answer: string, secrets: readonly string[] = []): string {
  const withoutSecrets = secrets.reduce((text, secret) => text.replaceAll(secret, "…"), answer);
  return withoutSecrets
    .slice(0, MAX_READ_LENGTH)
    .replaceAll(/[^\x21-\x7e…]+/g, " ")
    .replaceAll(/[^\s<>,;:=()[\]"']+@[^\s<>,;:=()[\]"']+/g, "…@…")
    .trim()
    .slice(0, MAX_LENGTH);
}
