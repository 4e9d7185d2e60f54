/** Declarations that must not compile. `tsc` is the test: it reports an unused @ts-expect-error. */

import { z } from "zod";
import { type Action, action, state } from "./define.ts";
import { NEXT } from "./names.ts";
import { go, next, reject, stay } from "./outcome.ts";
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
  run: () => reject("passcode_invalid"),
});

action({
  description: "A stay that was not declared.",
  to: [NEXT],
  // @ts-expect-error STAY is not among `to`
  run: () => stay(),
});

action({
  description: "An error in a promise, among allowed outcomes.",
  to: [NEXT],
  errors: ["passkey_invalid"],
  // @ts-expect-error value_invalid_error is not among `errors`
  run: async (_, input) => (Object.keys(input).length > 0 ? reject("value_invalid_error") : next()),
});

action({
  description: "A state that does not exist.",
  // @ts-expect-error unknown state
  to: ["no_such_state"],
  run: () => next() as never,
});

action({
  description: "An error that does not exist.",
  to: [NEXT],
  // @ts-expect-error unknown error code
  errors: ["no_such_error"],
  run: () => next(),
});

state({
  name: "passcode_confirmation",
  needs: ["passcode"],
  actions: (builder) => ({
    needed: builder({
      description: "Data that the state needs is present; other data may be absent.",
      input: z.strictObject({ code: z.string() }),
      to: [NEXT],
      run({ data }, { code }) {
        const purpose: string = data.passcode.purpose;
        // @ts-expect-error the state does not need `email`
        const email: string = data.email;
        // @ts-expect-error unknown input
        const other: string = code.other;
        return next({ data: { email: purpose + email + other } });
      },
    }),
  }),
});

// @ts-expect-error unknown data
state({ name: "preflight", needs: ["no_such_name"], actions: () => ({}) });

// @ts-expect-error a table that misses states
export const incomplete: typeof states = { preflight: states.preflight };

// @ts-expect-error unknown error code
export const unknownCode: ReturnType<Action["run"]> = reject("no_such_error");

// @ts-expect-error an action that no state declares
export const unknownAction: ActionName = "no_such_name";

// @ts-expect-error an input that no action declares
export const unknownInput: InputName = "no_such_name";
