import type { Config } from "../config/schema.ts";
import { findProvider } from "../thirdparty/providers/index.ts";
import type { Provider } from "../thirdparty/providers/provider.ts";
import type { FlowData } from "./data.ts";
import type { Facts } from "./facts.ts";
import type { StateName } from "./names.ts";

/** Whether the configuration allows signing in with a password. */
export function allowsPasswordLogin(config: Config): boolean {
  return config.password.enabled;
}

/** Whether the configuration allows signing in with a mailed code. */
export function allowsPasscodeLogin(config: Config): boolean {
  return config.email.enabled && config.email.use_for_authentication;
}

type Method = Extract<StateName, "login_password" | "passcode_confirmation" | "login_passkey">;

/**
 * Returns the state after an identifier. Unless the configuration shows actual methods, the result depends on the
 * configuration alone, so that it does not reveal whether the account exists.
 *
 * @returns null if no login method is available for this account
 */
export function stateAfterIdentifier(
  config: Config,
  data: FlowData,
  facts: Facts,
): Method | "login_method_chooser" | null {
  const actual = config.privacy.only_show_actual_login_methods;
  const methods: Method[] = [];
  if (allowsPasscodeLogin(config) && (!actual || facts.email !== null)) methods.push("passcode_confirmation");
  if (allowsPasswordLogin(config) && (!actual || facts.hasPassword)) methods.push("login_password");
  // The chooser always offers passkeys; they count as a method of their own only where actual methods are shown.
  if (actual && config.passkey.enabled && data.capabilities?.webauthn && facts.hasPasskey)
    methods.push("login_passkey");
  const [first, ...others] = methods;
  if (!first) return null;
  return others.length > 0 ? "login_method_chooser" : first;
}

const stateOfMethod = {
  password: "login_password",
  passcode: "passcode_confirmation",
  passkey: "login_passkey",
} as const satisfies Record<string, Method>;

/**
 * Returns the state of the method that this browser used last, in place of the choice of a method. Without a mark of the
 * account, which only a sign-in gives, there is none, so an identifier tells a stranger nothing.
 *
 * @returns null if the method is unknown, or the account or this client cannot use it now
 */
export function stateOfLastMethod(
  config: Config,
  data: FlowData,
  facts: Facts,
): Method | "login_method_chooser" | null {
  const { lastMethod } = data;
  if (!lastMethod) return null;
  // The choice shows the button of the provider.
  if (!("method" in lastMethod)) return lastProvider(config, data) && "login_method_chooser";
  const usable = {
    password: allowsPasswordLogin(config) && facts.hasPassword,
    passcode: allowsPasscodeLogin(config) && facts.email !== null,
    passkey: config.passkey.enabled && data.capabilities?.webauthn === true && facts.hasPasskey,
  };
  return usable[lastMethod.method] ? stateOfMethod[lastMethod.method] : null;
}

/** The identity provider that this browser used last for the account, by its mark; null if none, or not enabled. */
export function lastProvider(config: Config, { lastMethod }: Pick<FlowData, "lastMethod">): Provider | null {
  return lastMethod && "provider" in lastMethod ? findProvider(config, lastMethod.provider) : null;
}

/**
 * Returns the passcode to expect after an identifier. Without an account or an address it is a decoy: the responses are
 * the same, and no code is accepted.
 */
export function loginPasscode(
  data: FlowData,
  purpose: "login" | "recovery",
): NonNullable<FlowData["passcode"]> {
  return {
    purpose,
    decoy: data.userId === undefined || data.email === undefined,
    ...(data.email ? { recipient: data.email } : {}),
    ...(data.userId ? {} : { notice: "email_login_attempted" as const }),
  };
}
