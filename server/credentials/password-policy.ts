import type { Config } from "../config/schema.ts";
import { localPartOf } from "../identity/email-address.ts";
import { isCommonPassword } from "./common-passwords.ts";

export interface NewPasswordVerdict {
  code: "value_too_short_error" | "value_too_long_error" | "value_invalid_error";
  message: string;
}

/** What hashing is asked to digest at most, whatever `password.max_length` says. */
const maxBytes = 1024;

/**
 * Judges a password that somebody wants to have, by NIST SP 800-63B-4 section 3.1.1.2: length in code points after
 * NFC, then a list of what others tried first and what anybody would guess of this person. No rules of composition.
 *
 * @param contextWords see `contextWords`
 * @returns null when it will do, else the error code and the reason to show
 */
export function checkNewPassword(
  password: string,
  about: { config: Config; contextWords: readonly string[] },
): NewPasswordVerdict | null {
  const { min_length, max_length } = about.config.password;
  // Half a surrogate pair has no UTF-8 form: every one of them would be hashed as the same replacement character.
  if (!password.isWellFormed()) {
    return { code: "value_invalid_error", message: "The password contains a character that does not exist." };
  }
  const normal = password.normalize("NFC");
  const length = [...normal].length;
  if (length > max_length || Buffer.byteLength(normal) > maxBytes) {
    return { code: "value_too_long_error", message: `The password is longer than ${max_length} characters.` };
  }
  if (length < min_length) {
    return {
      code: "value_too_short_error",
      message: `The password is shorter than ${min_length} characters.`,
    };
  }
  const folded = fold(normal);
  if (isCommonPassword(folded)) {
    return {
      code: "value_invalid_error",
      message: "This password is one of the most used ones. Choose another.",
    };
  }
  if (about.contextWords.some((word) => isDerivedFrom(folded, fold(word)))) {
    return {
      code: "value_invalid_error",
      message: "This password is little more than a name that is easily guessed. Choose another.",
    };
  }
  return null;
}

/** What a guesser would try for this person first: the service's name, their names, and their address. */
export function contextWords(
  config: Config,
  person: { username?: string | null; email?: string | null },
): string[] {
  const { username, email } = person;
  return [
    config.service.name,
    config.webauthn.relying_party.id,
    ...(username ? [username] : []),
    ...(email ? [email, localPartOf(email)] : []),
  ];
}

const fold = (text: string) => text.normalize("NFC").toLowerCase();

/** Whether a password is the word itself, or the word between digits and signs (`stile2026!`), once or twice over. */
function isDerivedFrom(password: string, word: string): boolean {
  if (password === word || password === word + word) return true;
  const core = withoutEnds(password);
  const wordCore = withoutEnds(word);
  // Two letters between digits are hardly "the name with something around it".
  return wordCore.length >= 3 && [word, wordCore, wordCore + wordCore].includes(core);
}

/** A text without what is no letter at its start and its end. */
function withoutEnds(text: string): string {
  const characters = [...text];
  const isLetter = (character: string) => /\p{L}/u.test(character);
  return characters.slice(characters.findIndex(isLetter), characters.findLastIndex(isLetter) + 1).join("");
}
