import { z } from "zod";
import { configuredAs } from "../../conditions/leaves.ts";
import { action } from "../define.ts";
import { STAY } from "../names.ts";
import { stay } from "../outcome.ts";

const uncheckedInput = z.strictObject({ remember_me: z.boolean() });

/** Announces the current choice as the default, so that a reloaded page shows it. */
const checkedInput = z.strictObject({ remember_me: z.boolean().meta({ default: true }) });

/** Sets whether the session outlives the browser, where the configuration lets the user choose. */
export const rememberMe = action({
  description: "Choose whether to stay signed in when the browser is closed.",
  input: ({ data }) => (data.rememberMe ? checkedInput : uncheckedInput),
  when: configuredAs("session.cookie.retention", "prompt"),
  to: [STAY],
  run: (_, { remember_me }) => stay({ data: { rememberMe: remember_me } }, { enter: false }),
});
