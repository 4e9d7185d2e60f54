import type { PageWords, WordedSection } from "#words/flow";
import type { InputName, MethodName } from "../../server/flow/protocol-names.ts";
import type { IconName } from "../ui/icon.tsx";
import { isText, listOf, recordOf, textsOf } from "./payload-readers.ts";
import { placeText } from "./place-text.ts";

/** A detail of an item: a text of the payload or one of the page's words. */
export type Detail =
  | { text: string }
  /** What an application may know, with texts of the operator. */
  | { scope: string; texts: unknown }
  | {
      word: keyof PageWords;
      date?: string;
      timed?: boolean;
      /** Where it was done: browser and network. */
      place?: string;
      count?: number;
    };

export type AccountItem = Record<string, unknown>;

/** The inputs that name an item of the account. A sign-in has no action that could name it. */
type ItemInput = Extract<InputName, `${string}_id`> | "sign_in_id";

/**
 * A kind of item of which an account can have many: the input that names one, where they are in the payload, and
 * how they are drawn.
 */
export interface ItemList {
  input: ItemInput;
  /** Actions that name items of this list by another input. */
  otherInputs?: Record<string, string>;
  /** The input that renames an item. */
  renameInput?: string;
  /** Whether an action would not change this item. */
  isRedundant?: Record<string, (item: AccountItem) => boolean>;
  section: WordedSection;
  icon(item: AccountItem): IconName;
  items(payload: AccountItem): AccountItem[];
  /** The member that holds the value of `input`. */
  id: string;
  title: string;
  untitled: keyof PageWords;
  badges(item: AccountItem): (keyof PageWords)[];
  details(item: AccountItem): Detail[];
}

/** Actions that published clients offer, but this page only where the payload says so. */
export const shownOnlyIf: Partial<Record<string, (payload: AccountItem) => boolean>> = {
  patch_metadata: ({ metadata_editor }) => metadata_editor === true,
};

/** What the server calls the browser of a session that it does not know. */
const UNKNOWN = "Unknown";

export const itemLists: ItemList[] = [
  {
    input: "email_id",
    isRedundant: {
      email_set_primary: ({ is_primary, is_verified }) => is_primary === true || is_verified === false,
      email_verify: ({ is_verified }) => is_verified === true,
    },
    section: "emails",
    icon: () => "mail",
    items: ({ user }) => listOf(recordOf(user).emails),
    id: "id",
    title: "address",
    untitled: "identity",
    badges: ({ is_primary, is_verified }) => [
      ...(is_primary === true ? (["primary"] as const) : []),
      ...(is_verified === false ? (["unconfirmed"] as const) : []),
    ],
    details: () => [],
  },
  {
    input: "passkey_id",
    renameInput: "passkey_name",
    section: "passkeys",
    icon: () => "passkey",
    items: (payload) => withUses(recordOf(payload.user).passkeys, payload),
    id: "id",
    title: "name",
    untitled: "passkey",
    badges: ({ backup_state }) => (backup_state === true ? ["synced"] : []),
    details: credentialDetails,
  },
  {
    input: "security_key_id",
    otherInputs: { webauthn_credential_rename: "passkey_id" },
    renameInput: "passkey_name",
    section: "second_step",
    icon: () => "key",
    items: (payload) => withUses(recordOf(payload.user).security_keys, payload),
    id: "id",
    title: "name",
    untitled: "securityKey",
    badges: () => [],
    details: credentialDetails,
  },
  {
    input: "authenticator_id",
    section: "second_step",
    icon: () => "phone",
    items: ({ phones }) => listOf(phones),
    id: "id",
    title: "name",
    untitled: "phone",
    badges: () => [],
    details: ({ name, model, created_at, last_used_at }) => [
      ...(isText(model) && model !== name ? [{ text: model }] : []),
      ...dated("added", created_at),
      ...dated("lastUsed", last_used_at),
    ],
  },
  {
    input: "trusted_device_id",
    section: "trusted_browsers",
    icon: deviceIcon,
    items: ({ trusted_browsers }) => listOf(trusted_browsers),
    id: "id",
    title: "user_agent",
    untitled: "session",
    badges: () => [],
    details: ({ location, ip_address, last_used_at, expires_at }) => [
      ...located(location, ip_address),
      ...dated("lastUsed", last_used_at, true),
      ...dated("trustedUntil", expires_at),
    ],
  },
  {
    input: "sign_in_id",
    section: "sign_ins",
    icon: deviceIcon,
    items: ({ sign_ins }) => listOf(sign_ins),
    id: "id",
    title: "user_agent",
    untitled: "session",
    badges: ({ outcome }) => (outcome === "failure" ? ["signInFailed"] : []),
    details: ({ at, outcome, methods, location, ip_address }) => [
      ...methodDetails(methods),
      ...located(location, ip_address),
      ...dated(outcome === "failure" ? "triedAt" : "signedInSince", at, true),
    ],
  },
  {
    input: "identity_id",
    section: "identities",
    icon: () => "link",
    items: ({ user }) => listOf(recordOf(user).identities),
    id: "identity_id",
    title: "provider",
    untitled: "identity",
    badges: () => [],
    details: ({ email }) => (isText(email) ? [{ text: email }] : []),
  },
  {
    input: "application_id",
    section: "applications",
    icon: () => "link",
    items: ({ applications }) => listOf(applications),
    id: "id",
    title: "name",
    untitled: "application",
    badges: () => [],
    details: ({ scopes, texts, since }) => [
      ...textsOf(scopes).map((scope) => ({ scope, texts })),
      ...dated("usedSince", since),
    ],
  },
  {
    input: "session_id",
    section: "sessions",
    icon: ({ user_agent_raw }) => (isPhone(user_agent_raw) ? "phone" : "laptop"),
    items: ({ sessions, session_locations }) =>
      listOf(sessions).map((session) => ({
        ...session,
        user_agent: session.user_agent === UNKNOWN ? undefined : session.user_agent,
        location: isText(session.id) ? recordOf(session_locations)[session.id] : undefined,
      })),
    id: "id",
    title: "user_agent",
    untitled: "session",
    badges: ({ current, created_by_administrator, device_bound }) => [
      ...(current === true ? (["thisDevice"] as const) : []),
      ...(created_by_administrator === true ? (["byAdministrator"] as const) : []),
      ...(device_bound === true ? (["deviceBound"] as const) : []),
    ],
    details: ({ location, ip_address, created_at, last_used, impersonated_by }) => [
      ...actor(recordOf(impersonated_by)),
      ...located(location, ip_address),
      ...dated("signedInSince", created_at, true),
      ...dated("lastUsed", last_used, true),
    ],
  },
];

/** The operator who acts in a session as the user, and why. */
const actor = ({ name, reason }: AccountItem): Detail[] =>
  isText(name) && isText(reason) ? [{ text: `${name}: ${reason}` }] : [];

/** A kind of item of which an account has at most one. */
export interface Singleton {
  section: WordedSection;
  icon: IconName;
  title: keyof PageWords;
  actions: string[];
  /** The current values of inputs, by name: a form that changes them begins with them. */
  values?(payload: AccountItem): Record<string, unknown>;
  detail(payload: AccountItem, offered: (action: string) => boolean): Detail;
}

export const singletons: Singleton[] = [
  {
    section: "name",
    icon: "picture",
    title: "picture",
    actions: ["picture_update", "picture_delete"],
    detail({ user, picture_path }) {
      if (isText(picture_path)) return { word: "pictureShown" };
      return { word: isText(recordOf(user).picture) ? "pictureElsewhere" : "pictureMissing" };
    },
  },
  {
    section: "name",
    icon: "user",
    title: "name",
    actions: ["name_update"],
    values: ({ user }) => recordOf(user),
    detail({ user }) {
      const { name, given_name, family_name } = recordOf(user);
      const parts = [given_name, family_name].filter(isText).join(" ");
      const shown = isText(name) ? name : parts;
      return shown === "" ? { word: "nameMissing" } : { text: shown };
    },
  },
  {
    section: "sign_in",
    icon: "passkey",
    title: "username",
    actions: ["username_create", "username_update", "username_delete"],
    values: ({ user }) => recordOf(recordOf(user).username),
    detail({ user }) {
      const name = recordOf(recordOf(user).username).username;
      return isText(name) ? { text: name } : { word: "usernameMissing" };
    },
  },
  {
    section: "sign_in",
    icon: "phone",
    title: "phoneNumber",
    actions: ["phone_set", "phone_delete"],
    detail({ user }) {
      const { phone_number } = recordOf(user);
      return isText(phone_number) ? { text: phone_number } : { word: "phoneNumberMissing" };
    },
  },
  {
    section: "sign_in",
    icon: "lock",
    title: "password",
    actions: ["password_create", "password_update", "password_delete"],
    detail: (_, offered) => ({ word: offered("password_create") ? "passwordMissing" : "passwordSet" }),
  },
  {
    section: "second_step",
    icon: "phone",
    title: "authenticatorApp",
    actions: ["continue_to_otp_secret_creation", "otp_secret_delete"],
    detail: ({ user }) => ({
      word: recordOf(recordOf(user).mfa_config).auth_app_set_up === true ? "appSet" : "appMissing",
    }),
  },
  {
    section: "second_step",
    icon: "lock",
    title: "recoveryCodesRow",
    actions: ["recovery_codes_create"],
    detail: ({ recovery_codes_left: count }) =>
      typeof count === "number" ? { word: "recoveryCodesLeft", count } : { word: "recoveryCodesHint" },
  },
];

/** Actions that concern a whole section. */
export const sectionActions: Partial<Record<string, WordedSection>> = {
  email_create: "emails",
  webauthn_credential_create: "passkeys",
  security_key_create: "second_step",
  connect_thirdparty_oauth_provider: "identities",
  session_delete_others: "sessions",
  account_delete: "leave",
};

/**
 * Credentials with what is known of their use. One without a name has that of its provider; `number` tells apart those
 * whose names are equal and not their owner's. The server numbers new names itself.
 */
function withUses(credentials: unknown, { credential_uses }: AccountItem): AccountItem[] {
  const uses = recordOf(credential_uses);
  const counts = new Map<unknown, number>();
  return listOf(credentials).map((credential) => {
    const use = recordOf(isText(credential.id) ? uses[credential.id] : undefined);
    const name = isText(credential.name) ? credential.name : use.authenticator;
    if (isText(name) && name !== use.authenticator) return { ...use, ...credential, name };
    const number = (counts.get(name) ?? 0) + 1;
    counts.set(name, number);
    return { ...use, ...credential, name, number };
  });
}

function credentialDetails({
  name,
  authenticator,
  created_at,
  last_used_at,
  user_agent,
  ip_address,
  location,
}: AccountItem): Detail[] {
  const place = [user_agent, placeText(location), ip_address].filter(isText).join(", ");
  return [
    ...(isText(authenticator) && authenticator !== name ? [{ text: authenticator }] : []),
    ...dated("added", created_at),
    ...dated("lastUsed", last_used_at).map((used) => (place === "" ? used : { ...used, place })),
  ];
}

/** The words of the methods of signing in. A registration that proved nothing, and unknown methods, have none. */
const methodWords: Record<MethodName, keyof PageWords> = {
  password: "password",
  passcode: "mailedCode",
  sms: "smsCode",
  passkey: "passkey",
  third_party: "identity",
  totp: "authenticatorApp",
  security_key: "securityKey",
  authenticator: "phone",
  recovery_code: "recoveryCode",
};

function methodDetails(methods: unknown): Detail[] {
  const named = Array.isArray(methods) ? methods.filter(isText) : [];
  return named.flatMap((method): Detail[] => {
    const word = Object.hasOwn(methodWords, method) ? methodWords[method as MethodName] : undefined;
    return word ? [{ word }] : [];
  });
}

function located(location: unknown, address: unknown): Detail[] {
  return [placeText(location), address].filter(isText).map((text) => ({ text }));
}

function deviceIcon({ user_agent }: AccountItem): IconName {
  return isText(user_agent) && /^(iPhone|Android)\b/.test(user_agent) ? "phone" : "laptop";
}

/** @param timed whether to show the time of day */
function dated(word: keyof PageWords, date: unknown, timed = false): Detail[] {
  return isText(date) && !Number.isNaN(Date.parse(date)) ? [{ word, date, timed }] : [];
}

/** Browsers on phones identify as mobile; so does an iPad, which is not a phone. */
function isPhone(userAgent: unknown): boolean {
  return isText(userAgent) && /\bMobi/.test(userAgent) && !/\biPad\b/.test(userAgent);
}
