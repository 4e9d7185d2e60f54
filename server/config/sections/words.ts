import { z } from "zod";
import { key, map } from "./leaves.ts";

/** Characters of one text. */
const MAX_TEXT_CHARACTERS = 500;

/**
 * Texts of pages and mails in place of ours: language → path → text. Which paths there are, and what their texts need,
 * is judged by `server/theme/own-words.ts`: settings know nothing of words.
 */
export const words = map(key(35), map(key(200), z.string().max(MAX_TEXT_CHARACTERS), 2_000), 20)
  .default({})
  .describe(
    'Texts of pages and mails in place of ours, by language and path, such as `{"en":{"states.login_init.title":"Welcome to Acme"}}`. A text keeps the placeholders of ours.',
  );
