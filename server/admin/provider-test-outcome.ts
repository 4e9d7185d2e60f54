import { and, eq } from "drizzle-orm";
import { type Databases, schema } from "#db/client";
import type { Config } from "../config/schema.ts";
import type { Tenant } from "../config/tenant.ts";
import {
  type ThirdPartyError,
  type ThirdPartyFailureReason,
  thirdPartyFailures,
} from "../failures/third-party.ts";
import { factsById, factsByIdentifier, type UserFacts } from "../identity/facts.ts";
import { hasSecondFactor } from "../methods/second-factors.ts";
import { samlProvidersIn } from "../tenants/saml-providers.ts";
import { type AccountDecision, decideAccount } from "../thirdparty/account-decision.ts";
import { accountSituation, signUpAddress } from "../thirdparty/account-situation.ts";
import type { ReceivedClaims } from "../thirdparty/oauth.ts";
import type { ProviderFacts } from "../thirdparty/provider-facts.ts";
import { claimNames } from "../thirdparty/providers/claims.ts";
import { findProvider } from "../thirdparty/providers/index.ts";
import type { Provider } from "../thirdparty/providers/provider.ts";
import { attributeOf, commonAttributeNames, type FactName } from "../thirdparty/saml/attribute-mapping.ts";
import type { ProviderSettings } from "../thirdparty/saml/identity-providers.ts";
import type { TestResult } from "./provider-tests.ts";

/** What a test sign-in shows: the decision of a real one, which is not carried out. */

/** A provider that is tried, in the tenant that would have it enabled. */
export type TriedProvider = { tenant: Tenant } & (
  | { oauth: Provider; saml: null }
  | { oauth: null; saml: ProviderSettings }
);

const CUSTOM = "custom_";

/**
 * Returns a provider of a tenant, as if it were enabled.
 *
 * @param id `google`, `custom_acme`, or the id of a SAML provider
 * @returns null if there is no such provider, or SAML is off
 */
export function triedProvider(tenant: Tenant, id: string): TriedProvider | null {
  const { config } = tenant;
  const { third_party, saml } = config;
  const position = samlProvidersIn({ saml }).findIndex((provider) => provider.id === id);
  const settings = saml.identity_providers[position];
  if (settings) {
    if (!saml.enabled) return null;
    const enabled = { ...settings, enabled: true };
    const identity_providers = saml.identity_providers.with(position, enabled);
    return {
      tenant: { ...tenant, config: { ...config, saml: { ...saml, identity_providers } } },
      oauth: null,
      saml: enabled,
    };
  }
  const isCustom = id.startsWith(CUSTOM);
  const section = isCustom ? "custom_providers" : "providers";
  const key = isCustom ? id.slice(CUSTOM.length) : id;
  const providers: Record<string, object> = third_party[section];
  if (!Object.hasOwn(providers, key)) return null;
  const changed = {
    ...third_party,
    [section]: { ...providers, [key]: { ...providers[key], enabled: true } },
  };
  const tried: Tenant = { ...tenant, config: { ...config, third_party: changed as Config["third_party"] } };
  const oauth = findProvider(tried.config, id);
  return oauth && { tenant: tried, oauth, saml: null };
}

const MAX_CLAIMS = 100;
const MAX_NAME_CHARACTERS = 200;
const MAX_VALUE_CHARACTERS = 500;
const MAX_SOURCES = 5;

const shortened = (text: string, most: number) => (text.length > most ? `${text.slice(0, most)}…` : text);

const shownValue = (value: unknown) =>
  shortened(typeof value === "string" ? value : (JSON.stringify(value) ?? "undefined"), MAX_VALUE_CHARACTERS);

const shownClaims = (received: readonly ReceivedClaims[]): TestResult["received"] =>
  received.slice(0, MAX_SOURCES).map(({ source, claims }) => ({
    source,
    claims: Object.entries(claims)
      .slice(0, MAX_CLAIMS)
      .map(([name, value]) => ({ name: shortened(name, MAX_NAME_CHARACTERS), value: shownValue(value) })),
  }));

const nothing = {
  detail: null,
  notes: [],
  decision: null,
  user: null,
  facts: null,
  mapping: [],
} satisfies Partial<TestResult>;

/** The result of a test whose answer a sign-in would not accept. */
export function failedTest(
  { reason, detail = null }: Pick<ThirdPartyError, "reason"> & { detail?: string | undefined | null },
  received: readonly ReceivedClaims[] = [],
): TestResult {
  return {
    ...nothing,
    outcome: "failed",
    reason,
    detail,
    message: sentenceOf(reason),
    received: shownClaims(received),
  };
}

const sentenceOf = (reason: ThirdPartyFailureReason) => thirdPartyFailures[reason];

/** Tells what would become of a sign-in with these facts, by what decides it. */
export async function decidedTest(
  { database }: Databases,
  tried: TriedProvider,
  facts: ProviderFacts,
  received: readonly ReceivedClaims[],
): Promise<TestResult> {
  const { tenant } = tried;
  const { config } = tenant;
  const db = database.read;
  const { email } = facts;
  const known = email === null ? null : await factsByIdentifier(db, tenant.id, "email", email);
  const situation = await accountSituation({ db, tenant }, facts, { known, connectToUserId: null });
  const decision = decideAccount(situation);
  const shared = {
    ...nothing,
    facts,
    mapping: mappingOf(tried, facts, received),
    received: shownClaims(received),
  };
  if (!decision.ok)
    return {
      ...shared,
      outcome: "refused",
      reason: decision.reason,
      message: refusalOf(decision.reason, situation.accountWithSameEmail?.verified, facts),
    };
  if (decision.kind === "sign_up") {
    const { address, needsCode } = signUpAddress(config, facts);
    const isRequired = config.email.enabled && !config.email.optional;
    return {
      ...shared,
      outcome: "accepted",
      reason: null,
      decision: "sign_up",
      message:
        address === null
          ? "An account without an email address would be created."
          : `An account with the address ${address} would be created.`,
      notes: [
        ...(address !== null && needsCode ? ["A mailed code would have to verify the address first."] : []),
        ...(address === null && isRequired ? ["The user would be asked for an email address."] : []),
      ],
    };
  }
  const { userId, kind } = decision;
  const user = known?.userId === userId ? known : await factsById(db, tenant.id, userId);
  if (await isBlocked(database.read, tenant.id, userId))
    return {
      ...shared,
      outcome: "refused",
      reason: "account_blocked",
      user: { id: userId, email: user?.email ?? null },
      message: "The account is blocked, so that it would not be signed in.",
    };
  return {
    ...shared,
    outcome: "accepted",
    reason: null,
    decision: kind,
    user: { id: userId, email: user?.email ?? null },
    message:
      kind === "link"
        ? "The identity would be linked to the account with the same verified address, which would be signed in."
        : "The account that the identity is linked to would be signed in.",
    notes: user ? notesOn(decision, user, facts, config) : [],
  };
}

function notesOn(
  { kind }: Extract<AccountDecision, { userId: string }>,
  user: UserFacts,
  { satisfiesMfa }: ProviderFacts,
  config: Config,
): string[] {
  if (!hasSecondFactor(user, config)) return [];
  if (kind === "link")
    return ["The second factor of the account would be asked for before the identity is linked."];
  return satisfiesMfa
    ? ["The provider is trusted for the second factor, which would not be asked for."]
    : ["The second factor of the account would be asked for, unless the browser is trusted."];
}

function refusalOf(
  reason: Extract<AccountDecision, { ok: false }>["reason"],
  isVerified: boolean | undefined,
  { emailVerified }: ProviderFacts,
): string {
  if (reason !== "user_conflict") return sentenceOf(reason);
  if (!emailVerified)
    return "An account has the address, and the provider does not say that it has verified it.";
  return isVerified
    ? "An account has the address, and the settings do not allow the provider to be linked to it."
    : "An account has the address, and has not verified it.";
}

async function isBlocked(db: Databases["database"]["read"], tenantId: string, id: string): Promise<boolean> {
  const { users } = schema;
  const [row] = await db
    .select({ blockedAt: users.blockedAt })
    .from(users)
    .where(and(eq(users.tenantId, tenantId), eq(users.id, id)));
  return row?.blockedAt != null;
}

const factNames = {
  subject: "subject",
  email: "email",
  name: "name",
  givenName: "given_name",
  familyName: "family_name",
  picture: "picture",
} as const satisfies Partial<Record<keyof ProviderFacts, FactName>>;

/** The claim that each fact is read from. Of a provider whose API has facts of its own, nothing is told. */
function mappingOf(
  { oauth, saml }: TriedProvider,
  facts: ProviderFacts,
  received: readonly ReceivedClaims[],
): TestResult["mapping"] {
  const rows = Object.entries(factNames) as [keyof typeof factNames, FactName][];
  if (oauth) {
    const { attributeMapping } = oauth;
    if (attributeMapping === null) return [];
    const names = claimNames(attributeMapping);
    return [
      ...rows.map(([fact, name]) => ({ fact: name, from: names[fact], value: facts[fact] ?? null })),
      { fact: "email_verified", from: names.emailVerified, value: String(facts.emailVerified) },
    ];
  }
  const assertion = received.find(({ source }) => source === "assertion")?.claims ?? {};
  const attributes = new Map(
    Object.entries(assertion).flatMap(([name, values]) =>
      Array.isArray(values) ? [[name, values.map(String)] as const] : [],
    ),
  );
  return rows.map(([fact, name]) => {
    const mapped = saml.attribute_map[name];
    const standard: readonly string[] = commonAttributeNames[name];
    const found = attributeOf(name, attributes, saml);
    const from =
      found ??
      mapped ??
      (name === "subject" || (name === "email" && facts.email !== null) ? "NameID" : (standard[0] ?? ""));
    return { fact: name, from, value: facts[fact] ?? null };
  });
}
