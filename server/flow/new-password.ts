import { z } from "zod";
import type { Config } from "../config.ts";
import { contextWords, judgeNewPassword } from "../credentials/password-policy.ts";
import type { Facts } from "./facts.ts";
import { byConfig } from "./inputs.ts";
import { refuse } from "./outcome.ts";

/** The input that takes a new password. Its exact bounds are judged in code points, by the policy. */
export const newPassword = byConfig(({ password }) =>
  z.strictObject({
    new_password: z.string().min(password.min_length).max(password.max_length).meta({ input: "password" }),
  }),
);

/** The refusal of a password that must not be set; null when it may. */
export function refusedPassword(password: string, config: Config, facts: Pick<Facts, "email" | "username">) {
  const fault = judgeNewPassword(password, { config, contextWords: contextWords(config, facts) });
  return fault && refuse(fault.code, { input: "new_password", message: fault.message });
}
