import type { Config } from "../config/schema.ts";
import type { UserFacts } from "../identity/facts.ts";
import type { IdentifierKind } from "../identity/identifiers.ts";
import type { Leaf } from "./condition.ts";

/** Paths of the settings whose values are of a type, such as `password.enabled`. */
type SettingOf<Value, Section = Config> = {
  [Name in keyof Section & string]: string extends Name
    ? never
    : [Section[Name]] extends [Value]
      ? Name
      : Section[Name] extends readonly unknown[] | string | number | boolean | undefined
        ? never
        : `${Name}.${SettingOf<Value, Section[Name]>}`;
}[keyof Section & string];

export type BooleanSetting = SettingOf<boolean>;

export type TextSetting = SettingOf<string | undefined>;

/** What is read of a configuration for a setting. */
export type Configured<Setting> = Setting extends `${infer Section extends keyof Config & string}.${string}`
  ? { config: Pick<Config, Section> }
  : never;

/** That a setting is on. */
export function configured<Setting extends BooleanSetting>(setting: Setting): Leaf<Configured<Setting>> {
  const read = readerOf(setting);
  return {
    kind: "setting",
    of: setting,
    judge: ({ config }) => read(config) === true,
    holds: `\`${setting}\` is on`,
    fails: `\`${setting}\` is off`,
  };
}

/** That a setting has a value. */
export function configuredAs<Setting extends TextSetting>(
  setting: Setting,
  value: string,
): Leaf<Configured<Setting>> {
  const read = readerOf(setting);
  return {
    kind: "setting",
    of: setting,
    value,
    judge: ({ config }) => read(config) === value,
    holds: `\`${setting}\` is \`${value}\``,
    fails: `\`${setting}\` is not \`${value}\``,
  };
}

/** Reads a setting. The path is split once. */
function readerOf(setting: string): (config: object) => unknown {
  const names = setting.split(".");
  return (config) =>
    names.reduce<unknown>(
      (section, name) => (section as Record<string, unknown> | undefined)?.[name],
      config,
    );
}

/** What an account has, as nouns. */
const belongings = {
  hasPassword: "password",
  hasPasskey: "passkey",
  hasSecurityKey: "security key",
  hasTotp: "authenticator app",
  hasAuthenticator: "registered authenticator",
  hasRecoveryCode: "recovery code",
  hasIdentity: "connected identity",
  email: "email address",
  username: "username",
  phone: "phone number",
} as const satisfies Record<Extract<keyof UserFacts, `has${string}`> | IdentifierKind, string>;

type Belonging = keyof typeof belongings;

/** That an account has something. */
export function fact<Name extends Belonging>(
  name: Name,
): Leaf<{ facts: Record<Name, boolean | string | null> }> {
  const noun = belongings[name];
  return {
    kind: "fact",
    of: name,
    judge: ({ facts }) => facts[name] !== null && facts[name] !== false,
    holds: `the account has ${/^[aeio]/.test(noun) ? "an" : "a"} ${noun}`,
    fails: `the account has no ${noun}`,
  };
}

const capabilities = {
  webauthn: "WebAuthn",
  platformAuthenticator: "an authenticator of its own",
} as const satisfies Record<keyof NonNullable<Capabilities>, string>;

/** What a client can do, as far as conditions ask; undefined in flows that do not ask, which leaves it to the browser. */
export type Capabilities = { webauthn: boolean; platformAuthenticator: boolean } | undefined;

/** What is known of a client. */
export interface Capable {
  data: { capabilities?: Capabilities };
}

/** That the client has reported that it can do something. */
export function capability(name: keyof typeof capabilities): Leaf<Capable> {
  return {
    kind: "capability",
    of: name,
    judge: ({ data }) => data.capabilities?.[name] === true,
    holds: `the client reports ${capabilities[name]}`,
    fails: `the client reports no ${capabilities[name].replace(/^an? /, "")}`,
  };
}

/** That the client was asked what it can do; else it is left to the browser. */
export const reportsCapabilities: Leaf<Capable> = {
  kind: "capability",
  of: "reported",
  judge: ({ data }) => data.capabilities !== undefined,
  holds: "the client has reported what it can do",
  fails: "the client has not reported what it can do",
};

/** That a flow is of one of these types. */
export function flowIs<Type extends string>(...types: readonly Type[]): Leaf<{ type: string }> {
  const names = types.map((type) => `\`${type}\``).join(" or ");
  return {
    kind: "flow",
    of: types.join(" "),
    judge: ({ type }) => types.some((each) => each === type),
    holds: `the flow is ${names}`,
    fails: `the flow is not ${names}`,
  };
}
