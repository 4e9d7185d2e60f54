import { holds } from "../conditions/condition.ts";
import type { Config } from "../config/schema.ts";
import { type FirstFactorMethod, firstFactors } from "../methods/index.ts";
import { findProvider } from "../thirdparty/providers/index.ts";
import type { Provider } from "../thirdparty/providers/provider.ts";
import type { FlowData } from "./data.ts";
import type { Facts } from "./facts.ts";

/** A method that an identifier can lead to. */
type IdentifierMethod = Exclude<FirstFactorMethod, { firstFactor: { followsIdentifier: "never" } }>;

const identifierMethods = firstFactors.filter(
  (method): method is IdentifierMethod => method.firstFactor.followsIdentifier !== "never",
);

/** The states of the methods that an identifier can lead to. */
export const methodStates = identifierMethods.map(({ firstFactor }) => firstFactor.state);

type MethodState = IdentifierMethod["firstFactor"]["state"];

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
): MethodState | "login_method_chooser" | null {
  const actual = config.privacy.only_show_actual_login_methods;
  const [first, ...others] = identifierMethods.filter((method) =>
    actual
      ? isUsable(method, config, data, facts)
      : method.firstFactor.followsIdentifier === "always" && holds(method.firstFactor.enabled, { config }),
  );
  if (!first) return null;
  return others.length > 0 ? "login_method_chooser" : first.firstFactor.state;
}

/** Whether the account has a method that is allowed and that this client can use. */
function isUsable(method: IdentifierMethod, config: Config, data: FlowData, facts: Facts): boolean {
  return (
    holds(method.firstFactor.enabled, { config }) &&
    method.has(facts) &&
    holds(method.firstFactor.usable, { data })
  );
}

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
): MethodState | "login_method_chooser" | null {
  const { lastMethod } = data;
  if (!lastMethod) return null;
  // The choice shows the button of the provider.
  if (!("method" in lastMethod)) return lastProvider(config, data) && "login_method_chooser";
  const method = identifierMethods.find(({ name }) => name === lastMethod.method);
  return method && isUsable(method, config, data, facts) ? method.firstFactor.state : null;
}

/** The identity provider that this browser used last for the account, by its mark; null if none, or not enabled. */
export function lastProvider(config: Config, { lastMethod }: Pick<FlowData, "lastMethod">): Provider | null {
  return lastMethod && "provider" in lastMethod ? findProvider(config, lastMethod.provider) : null;
}
