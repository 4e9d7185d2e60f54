import { z } from "zod";
import type { Config } from "../config/schema.ts";
import { checkNewPassword, contextWords } from "../credentials/password-policy.ts";
import type { Facts } from "./facts.ts";
import { byConfig } from "./inputs.ts";
import { refuse } from "./outcome.ts";

/**
 * The input that takes a new password. Its bounds are announced here and judged by the policy, in code points of the
 * normalised form; only what is far beyond them ends before that.
 */
export const newPassword = byConfig(({ password }) =>
  z.strictObject({
    new_password: z
      .string()
      .max(4 * password.max_length)
      .meta({ input: "password", minLength: password.min_length, maxLength: password.max_length }),
  }),
);

/** The refusal of a password that must not be set; null when it may. */
export function refusedPassword(password: string, config: Config, facts: Pick<Facts, "email" | "username">) {
  const fault = checkNewPassword(password, { config, contextWords: contextWords(config, facts) });
  return fault && refuse(fault.code, { input: "new_password", message: fault.message });
}
