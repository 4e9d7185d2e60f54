import { type Language, languageTags } from "#words/language-tags";

/**
 * The language that an account owner last signed in with; null if there is no account, or no sign-in named a language.
 * It is that of mails which no request of the owner triggers: the request of an administrator or an application has
 * another person's language.
 *
 * @param account with the stored language tag
 */
export function accountLanguage(account: { language: string | null } | null): Language | null {
  return languageTags.find((tag) => tag === account?.language) ?? null;
}
