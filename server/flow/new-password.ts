import { z } from "zod";
import type { Config } from "../config/schema.ts";
import { checkNewPassword, contextWords } from "../methods/password/password-policy.ts";
import type { Facts } from "./facts.ts";
import { byConfig } from "./inputs.ts";
import { type Outcome, reject } from "./outcome.ts";

/**
 * Schema of a new password. It announces the bounds of the policy, which counts code points of the normalised form;
 * only values far beyond them fail here.
 */
export const newPassword = ({ password }: Config) =>
  z
    .string()
    .max(4 * password.max_length)
    .meta({ input: "password", minLength: password.min_length, maxLength: password.max_length });

export const newPasswordInput = byConfig((config) => z.strictObject({ new_password: newPassword(config) }));

export const newPasswordErrors = [
  "value_too_short_error",
  "value_too_long_error",
  "value_invalid_error",
] as const;

/**
 * Checks a new password against the policy.
 *
 * @param input name of the input that held the password
 * @returns the rejection; null if the password may be set
 */
export function rejectNewPassword(
  password: string,
  config: Config,
  facts: Pick<Facts, "email" | "username">,
  input: "password" | "new_password" = "new_password",
): Outcome<never, (typeof newPasswordErrors)[number]> | null {
  const checked = checkNewPassword(password, { config, contextWords: contextWords(config, facts) });
  return checked.ok ? null : reject(checked.reason, { input, message: checked.message });
}
