import { z } from "zod";
import { action } from "../define.ts";
import { STAY } from "../names.ts";
import { stay } from "../outcome.ts";

/** Whether the session outlives the browser, where that is the person's to say. */
export const rememberMe = action({
  description: "Choose whether to stay signed in when the browser is closed.",
  input: z.strictObject({ remember_me: z.boolean() }),
  when: (view) => view.config.session.cookie.retention === "prompt",
  to: [STAY],
  run: (_, { remember_me }) => stay({ data: { rememberMe: remember_me } }),
});
