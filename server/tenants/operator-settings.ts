import type { Config } from "../config/schema.ts";
import { isTree, subtree, type Tree } from "../lib/tree.ts";

/**
 * Settings of a tenant that only the operator of the server sets: addresses that this server sends requests to, sender
 * and texts of its mails and SMS, countries whose SMS are paid for, and cookies that tenants of one host could take from
 * each other. `*` stands for any key, and `x*` for any that begins with `x`.
 */
const operatorSettings = [
  "smtp_url",
  "email_delivery",
  "sms_delivery",
  "phone.enabled",
  "phone.allowed_countries",
  "mfa.sms",
  "service.name_pinned",
  "words.*.mail*",
  "words.*.sms*",
  "session.cookie",
  "authenticator.push_url",
  "third_party.custom_providers.*.issuer",
  "third_party.custom_providers.*.authorization_endpoint",
  "third_party.custom_providers.*.token_endpoint",
  "third_party.custom_providers.*.userinfo_endpoint",
  "third_party.custom_providers.*.end_session_endpoint",
  "saml.identity_providers.*.metadata_url",
];

/** Those that a tenant may not remove either: the server's own would take their place, and SMS would be paid for. */
const restrictions: ReadonlySet<string> = new Set([
  "sms_delivery",
  "phone.enabled",
  "phone.allowed_countries",
  "mfa.sms",
]);

/**
 * Finds a setting that only the operator sets, in a change by the tenant itself. The tenant may remove one, but for those
 * that restrict it.
 *
 * @param before the tenant's settings, secrets included
 * @returns its path; null if there is none
 */
export function changedOperatorSetting(before: Tree, after: Tree): string | null {
  for (const path of operatorSettings) {
    const known = valuesAt(before, path.split("."));
    const stated = valuesAt(after, path.split("."));
    const isSet = stated.some((value) => !known.includes(value));
    const isRemoved = restrictions.has(path) && known.some((value) => !stated.includes(value));
    if (isSet || isRemoved) return path;
  }
  return null;
}

/** Whether only the operator sets a setting. Below free keys, `[]` and `{}` stand for any. */
export function isOperatorSetting(path: readonly string[]): boolean {
  return operatorSettings.some((setting) =>
    setting.split(".").every((part, at) => {
      const name = path[at] ?? "";
      return part.endsWith("*") ? name.startsWith(part.slice(0, -1)) : part === name;
    }),
  );
}

/**
 * Finds a setting that the tenant changes itself and may not, beyond the operator's settings: its name in pages and
 * mails, if the operator has pinned it, and another issuer of its tokens than its own address.
 *
 * @param server the configuration of the server, whose `service.name_pinned` holds for tenants without their own
 * @param baseUrl the tenant's own address
 * @returns the setting; null if there is none
 */
export function changedByTenant(
  before: { name: string; settings: Tree },
  after: { name: string; settings: Tree },
  { server, baseUrl }: { server: Config; baseUrl: string },
): string | null {
  const serviceOf = ({ settings }: { settings: Tree }) => subtree(settings, "service");
  const pinnedIn = (one: { settings: Tree }) => serviceOf(one).name_pinned ?? server.service.name_pinned;
  const nameIn = (one: { name: string; settings: Tree }) => serviceOf(one).name ?? one.name;
  if (pinnedIn(before) === true && (pinnedIn(after) !== true || nameIn(before) !== nameIn(after)))
    return "service.name";
  const issuerIn = (one: { settings: Tree }) => subtree(one.settings, "session").issuer ?? "";
  const own = ["", baseUrl, issuerIn(before)];
  return own.includes(issuerIn(after)) ? null : "session.issuer";
}

/** Returns the values at a path as JSON, of a section those of its members; with the keys that `*` stands for, except of lists. */
function valuesAt(value: unknown, [name, ...rest]: string[], key = ""): string[] {
  if (name?.endsWith("*")) {
    const begin = name.slice(0, -1);
    const members = Array.isArray(value)
      ? value.map((item) => ["", item] as const)
      : Object.entries(isTree(value) ? value : {});
    return members
      .filter(([each]) => each.startsWith(begin))
      .flatMap(([each, member]) => valuesAt(member, rest, `${key}/${each}`));
  }
  if (name !== undefined)
    return isTree(value) && Object.hasOwn(value, name) ? valuesAt(value[name], rest, key) : [];
  if (isTree(value))
    return Object.entries(value).flatMap(([each, member]) => valuesAt(member, [], `${key}/${each}`));
  return [`${key} ${JSON.stringify(value)}`];
}
