import type { Config } from "../../config/schema.ts";
import { localPartOf } from "../../identity/email/email-address.ts";
import { isCommonPassword } from "./common-passwords.ts";

export type NewPasswordVerdict =
  | { ok: true }
  | {
      ok: false;
      reason: "value_too_short_error" | "value_too_long_error" | "value_invalid_error";
      /** The reason in words, for the client. */
      message: string;
    };

/** Limit of the hash input, even if `password.max_length` allows more. */
const MAX_PASSWORD_BYTES = 1024;

/**
 * Checks a new password by NIST SP 800-63B-4 section 3.1.1.2: length in code points after NFC, then a list of common
 * passwords and the context words of the user. There are no composition rules.
 *
 * @param about.contextWords see `contextWords`
 */
export function checkNewPassword(
  password: string,
  about: { config: Config; contextWords: readonly string[] },
): NewPasswordVerdict {
  const { min_length } = about.config.password;
  const bounds = checkPasswordBounds(password, about.config);
  if (!bounds.ok) return bounds;
  const normal = password.normalize("NFC");
  if ([...normal].length < min_length) {
    return reject("value_too_short_error", `The password is shorter than ${min_length} characters.`);
  }
  const folded = fold(normal);
  if (isCommonPassword(folded)) {
    return reject("value_invalid_error", "This password is one of the most used ones. Choose another.");
  }
  if (about.contextWords.some((word) => isDerivedFrom(folded, fold(word)))) {
    return reject(
      "value_invalid_error",
      "This password is little more than a name that is easily guessed. Choose another.",
    );
  }
  return { ok: true };
}

/** Checks that a password can be hashed, by no other rule. */
export function checkPasswordBounds(password: string, config: Config): NewPasswordVerdict {
  const { max_length } = config.password;
  // A lone surrogate has no UTF-8 encoding: all of them would be hashed as the same replacement character.
  if (!password.isWellFormed()) {
    return reject("value_invalid_error", "The password contains an invalid character.");
  }
  const normal = password.normalize("NFC");
  if ([...normal].length > max_length || Buffer.byteLength(normal) > MAX_PASSWORD_BYTES) {
    return reject("value_too_long_error", `The password is longer than ${max_length} characters.`);
  }
  return { ok: true };
}

function reject(reason: (NewPasswordVerdict & { ok: false })["reason"], message: string): NewPasswordVerdict {
  return { ok: false, reason, message };
}

/** Words that an attacker would try first: the service's name and domain, the username, the email address. */
export function contextWords(
  config: Config,
  user: { username?: string | null; email?: string | null },
): string[] {
  const { username, email } = user;
  return [
    config.service.name,
    config.webauthn.relying_party.id,
    ...(username ? [username] : []),
    ...(email ? [email, localPartOf(email)] : []),
  ];
}

const fold = (text: string) => text.normalize("NFC").toLowerCase();

/** Whether a password is the word, once or twice, with or without digits and signs around it (`stile2026!`). */
function isDerivedFrom(password: string, word: string): boolean {
  if (password === word || password === word + word) return true;
  const core = withoutEnds(password);
  const wordCore = withoutEnds(word);
  // One or two letters between digits say little about the word.
  return wordCore.length >= 3 && [word, wordCore, wordCore + wordCore].includes(core);
}

/** Strips characters other than letters from both ends. */
function withoutEnds(text: string): string {
  const characters = [...text];
  const isLetter = (character: string) => /\p{L}/u.test(character);
  return characters.slice(characters.findIndex(isLetter), characters.findLastIndex(isLetter) + 1).join("");
}
