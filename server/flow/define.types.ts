/** What must not compile. Nothing here runs: `tsc` is the test, and an unused @ts-expect-error is its failure. */

import { z } from "zod";
import { type Action, action, state } from "./define.ts";
import { NEXT } from "./names.ts";
import { go, next, refuse, stay } from "./outcome.ts";
import type { ActionName, InputName } from "./protocol-names.ts";
import { states } from "./states/index.ts";

action({
  description: "A target that was not declared.",
  to: ["login_init"],
  // @ts-expect-error login_password is not among `to`
  run: () => go("login_password"),
});

action({
  description: "An error that was not declared.",
  to: [NEXT],
  errors: ["passkey_invalid"],
  // @ts-expect-error passcode_invalid is not among `errors`
  run: () => refuse("passcode_invalid"),
});

action({
  description: "A stay that was not declared.",
  to: [NEXT],
  // @ts-expect-error STAY is not among `to`
  run: () => stay(),
});

action({
  description: "A refusal in a promise, among allowed outcomes.",
  to: [NEXT],
  errors: ["passkey_invalid"],
  // @ts-expect-error value_invalid_error is not among `errors`
  run: async (_, input) => (Object.keys(input).length > 0 ? refuse("value_invalid_error") : next()),
});

action({
  description: "A state that does not exist.",
  // @ts-expect-error there is no such state
  to: ["login_by_handshake"],
  run: () => next() as never,
});

action({
  description: "An error that does not exist.",
  to: [NEXT],
  // @ts-expect-error there is no such error
  errors: ["bad_weather"],
  run: () => next(),
});

state({
  name: "passcode_confirmation",
  needs: ["passcode"],
  actions: (builder) => ({
    needed: builder({
      description: "Data that the state needs is there; other data may be missing.",
      input: z.strictObject({ code: z.string() }),
      to: [NEXT],
      run({ data }, { code }) {
        const purpose: string = data.passcode.purpose;
        // @ts-expect-error the state does not need `email`
        const email: string = data.email;
        // @ts-expect-error there is no such input
        const other: string = code.other;
        return next({ data: { email: purpose + email + other } });
      },
    }),
  }),
});

// @ts-expect-error data that nobody declared
state({ name: "preflight", needs: ["shoe_size"], actions: () => ({}) });

// @ts-expect-error a table without all states
export const incomplete: typeof states = { preflight: states.preflight };

// @ts-expect-error a refusal needs a code of the table
export const unknownCode: ReturnType<Action["run"]> = refuse("unheard_of");

// @ts-expect-error an action that no state declares
export const unknownAction: ActionName = "shake_hands";

// @ts-expect-error an input that no action declares
export const unknownInput: InputName = "shoe_size";
