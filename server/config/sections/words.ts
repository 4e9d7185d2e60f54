import { z } from "zod";

/**
 * Texts of pages and mails in place of ours: language → path → text. Which paths there are, and what their texts need,
 * is judged by `server/theme/own-words.ts`: settings know nothing of words.
 */
export const words = z
  .record(z.string(), z.record(z.string(), z.string()))
  .default({})
  .describe(
    'Texts of pages and mails in place of ours, by language and path, such as `{"en":{"states.login_init.title":"Welcome to Acme"}}`. A text keeps the placeholders of ours.',
  );
