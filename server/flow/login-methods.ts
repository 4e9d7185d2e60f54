import type { Config } from "../config/schema.ts";
import type { FlowData } from "./data.ts";
import type { Facts } from "./facts.ts";
import type { StateName } from "./names.ts";

/** Whether a password is a way to sign in here. */
export function passwordLogin(config: Config): boolean {
  return config.password.enabled;
}

/** Whether a mailed code is a way to sign in here. */
export function passcodeLogin(config: Config): boolean {
  return config.email.enabled && config.email.use_for_authentication;
}

type Method = Extract<StateName, "login_password" | "passcode_confirmation" | "login_passkey">;

/**
 * Where an identifier leads. Unless the deployment shows actual methods, it depends on the configuration alone, so
 * that no answer tells whether the account exists.
 *
 * @returns null when there is no way to sign in to this account
 */
export function afterIdentifier(
  config: Config,
  data: FlowData,
  facts: Facts,
): Method | "login_method_chooser" | null {
  const actual = config.privacy.only_show_actual_login_methods;
  const methods: Method[] = [];
  if (passcodeLogin(config) && (!actual || facts.email !== null)) methods.push("passcode_confirmation");
  if (passwordLogin(config) && (!actual || facts.hasPassword)) methods.push("login_password");
  // Passkeys are offered beside the choice; by themselves they are one only where actual methods are shown.
  if (actual && config.passkey.enabled && data.capabilities?.webauthn && facts.hasPasskey)
    methods.push("login_passkey");
  const [first, ...others] = methods;
  if (!first) return null;
  return others.length > 0 ? "login_method_chooser" : first;
}

/**
 * The mailed code that is awaited after an identifier. Without an account, or without an address of it, the person
 * is shown the same, and nobody can be let in.
 */
export function loginPasscode(
  data: FlowData,
  purpose: "login" | "recovery",
): NonNullable<FlowData["passcode"]> {
  return {
    purpose,
    genuine: data.userId !== undefined && data.email !== undefined,
    ...(data.email ? { recipient: data.email } : {}),
    ...(data.userId ? {} : { notice: "email_login_attempted" as const }),
  };
}
