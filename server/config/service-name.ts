/** Most characters of a service's name: it stands in the sender, the subject and the text of mails. */
export const MAX_SERVICE_NAME_CHARACTERS = 64;

/**
 * Controls, halves of characters, line breaks, and characters that turn the order of the text around them or are not
 * seen. Joiners are letters of some scripts and parts of emoji.
 */
const unfit = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/u;

/** What mail programs turn into a link: addresses with a scheme or of mail, host names, IP addresses, telephone numbers. */
const linked = /@|:\/\/|\bwww\.|[\p{L}\p{N}\p{M}_-]\.\p{L}{2}|\d+\.\d+\.\d+\.\d+|(?:\d[\s()./-]*){7}/iu;

/**
 * Finds out why a text cannot be the name of a service, which mails of a tenant carry to any address.
 *
 * @returns the end of a sentence that begins with the setting; null if it can
 */
export function serviceNameFault(name: string): string | null {
  if (name.trim() === "" || name.length > MAX_SERVICE_NAME_CHARACTERS)
    return `must have 1 to ${MAX_SERVICE_NAME_CHARACTERS} characters`;
  if (unfit.test(name)) return "must be one line without control and direction characters";
  // Full-width forms and the ideographic full stop are read as what they look like (UTS 46); an SMS has letters without
  // their marks.
  const plain = name
    .normalize("NFKD")
    .replace(/[\p{M}\p{Default_Ignorable_Code_Point}]/gu, "")
    .replace(/[\u3002\uff61]/g, ".");
  return linked.test(plain)
    ? "must not contain what mail programs turn into a link, such as an address"
    : null;
}
