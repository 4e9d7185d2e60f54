import { z } from "zod";
import { action } from "../define.ts";
import { STAY } from "../names.ts";
import { stay } from "../outcome.ts";

const unticked = z.strictObject({ remember_me: z.boolean() });

/** What was chosen is shown again, or a page that is loaded anew would say the opposite of what will be done. */
const ticked = z.strictObject({ remember_me: z.boolean().meta({ default: true }) });

/** Whether the session outlives the browser, where that is the person's to say. */
export const rememberMe = action({
  description: "Choose whether to stay signed in when the browser is closed.",
  input: ({ data }) => (data.rememberMe ? ticked : unticked),
  when: (view) => view.config.session.cookie.retention === "prompt",
  to: [STAY],
  run: (_, { remember_me }) => stay({ data: { rememberMe: remember_me } }, { enter: false }),
});
