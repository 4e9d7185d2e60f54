import { passkeyIn as bn } from "./bn/passkey.ts";
import { passkeyIn as de } from "./de/passkey.ts";
import { passkeyIn as en } from "./en/passkey.ts";
import { passkeyIn as fr } from "./fr/passkey.ts";
import { passkeyIn as it } from "./it/passkey.ts";
import type { Language } from "./language-tags.ts";
import { passkeyIn as nl } from "./nl/passkey.ts";
import { passkeyIn as ptBR } from "./pt-BR/passkey.ts";
import { passkeyIn as zh } from "./zh/passkey.ts";

/**
 * Names of new passkeys. They are stored with the passkey, unlike the words of the pages, which are those of the reader.
 */
export const passkeyNames: Readonly<Record<Language, string>> = {
  en,
  de,
  bn,
  fr,
  it,
  nl,
  "pt-BR": ptBR,
  zh,
};
