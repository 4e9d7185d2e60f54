import { crc32 } from "node:zlib";
import { z } from "zod";
import type { Account } from "../account/account.ts";
import { isOfSession as isKeyOfSession } from "../account/browser-accounts.ts";
import type { Config } from "../config/schema.ts";
import { onceFor } from "../lib/once-for.ts";
import { timeOfUuid } from "../lib/uuid.ts";
import { NEVER_AUTHENTICATED, type Session } from "../objects/session.ts";
import { samlProviderPosition } from "../thirdparty/saml/identity-providers.ts";
import { type DataPatch, factor, flowData } from "./data.ts";
import type { Entered } from "./define.ts";
import type { StepError } from "./errors.ts";
import { type Facts, noFacts } from "./facts.ts";
import type { Outcome } from "./outcome.ts";
import type { StepTrace } from "./performing.ts";
import {
  type AccountSkeleton,
  countOf,
  type FactsSkeleton,
  ID,
  type OutcomeSkeleton,
  type OwnerSkeleton,
  type SessionSkeleton,
  type StepSkeleton,
  TEXT,
} from "./step-skeleton.ts";
import type { Owner } from "./view.ts";
import type { FlowState } from "./wire.ts";

/** What a value is told against. */
interface Telling {
  /** When the flow was started, in milliseconds since 1970. */
  startedAt: number;
  config: Config;
}

type Json = z.core.util.JSONType;
type Shaper = (value: unknown, telling: Telling) => Json;

/**
 * Describes the trace of a step without values: of a text it says that there is one, of a list how long it is. Members
 * of closed lists stay, as do flags and the time since the flow was started.
 *
 * @param flow `isStart`: the step has started the flow
 */
export function withoutValues(
  trace: StepTrace,
  { flowId, isStart, config }: { flowId: string; isStart: boolean; config: Config },
  shown: FlowState["actions"] | null,
): StepSkeleton {
  const startedAt = timeOfUuid(flowId) ?? trace.now.getTime();
  const telling = { startedAt, config };
  const { owner, ownerAfter, outcome, facts } = trace;
  const before = owner && ownerSkeleton(owner, telling);
  const after = ownerAfter && ownerSkeleton(ownerAfter, telling);
  const entered = trace.entered.flatMap(({ state, by }) => enteredSkeleton(state, by, telling));
  return {
    version: trace.record.version,
    at: trace.now.getTime() - startedAt,
    ...(isStart ? { begins: dataSkeleton(trace.record.data, telling) } : {}),
    user: trace.user && factsSkeleton(trace.user, telling),
    ...(facts ? { facts: { ...factsSkeleton(facts, telling), deviceTrusted: facts.deviceTrusted } } : {}),
    ...(before ? { owner: before } : {}),
    ...(after && JSON.stringify(after) !== JSON.stringify(before) ? { ownerAfter: after } : {}),
    ...(trace.isPostponed ? { postponed: true } : {}),
    ...(trace.malformed ? { malformed: codesOf(trace.malformed) } : {}),
    ...(outcome ? { outcome: outcomeSkeleton(outcome, telling) } : {}),
    ...(trace.device === "unknown" ? {} : { device: trace.device }),
    ...(entered.length > 0 ? { entered } : {}),
    ...(trace.conflict
      ? {
          conflict: {
            name: trace.conflict.name,
            user: trace.conflict.user && factsSkeleton(trace.conflict.user, telling),
          },
        }
      : {}),
    ...(shown ? { offered: checksumsOf(shown) } : {}),
  };
}

const codesOf = (inputs: Record<string, { code: string }>) =>
  Object.fromEntries(Object.entries(inputs).map(([input, { code }]) => [input, code]));

/** Different checksums: four characters. One in a million changes of an input has the checksum that it had. */
const CHECKSUMS = 36 ** 4;

/** The names of the actions of a state, each with a checksum of the shape of its inputs. */
export function checksumsOf(actions: FlowState["actions"]): Record<string, string> {
  return Object.fromEntries(
    Object.values(actions)
      .filter(({ alias_of }) => alias_of === undefined)
      .map(({ action, inputs }) => {
        const shapes = Object.values(inputs).map(({ value, allowed_values, error, ...shape }) => [
          shape,
          // A text may be one that the user has sent.
          typeof value === "boolean" ? value : null,
          allowed_values?.length ?? null,
        ]);
        return [action, (crc32(JSON.stringify(shapes)) % CHECKSUMS).toString(36)];
      }),
  );
}

/** Facts that are texts: of these it is recorded that there is one. */
const factNames = Object.keys(noFacts).filter(
  (name) => !["deviceTrusted", "language", "passkeyDeclinedAt"].includes(name),
) as (keyof Facts)[];

function factsSkeleton(
  { passkeyDeclinedAt, ...facts }: Partial<Facts> & { credentialCount?: number },
  { startedAt }: Telling,
): FactsSkeleton {
  const { credentialCount } = facts;
  return {
    has: factNames.filter((name) => isThere((facts as Partial<Facts>)[name])),
    ...(credentialCount ? { credentials: credentialCount } : {}),
    ...(passkeyDeclinedAt ? { declinedAt: passkeyDeclinedAt.getTime() - startedAt } : {}),
  };
}

const isThere = (fact: unknown) => fact !== undefined && fact !== null && fact !== false;

function ownerSkeleton({ account, session }: Owner, telling: Telling): OwnerSkeleton {
  return {
    account: account && accountSkeleton(account, session, telling),
    session: sessionSkeleton(session, telling),
  };
}

function sessionSkeleton(
  { authenticatedAt, factors }: Pick<Session, "authenticatedAt" | "factors">,
  telling: Telling,
): SessionSkeleton {
  const isProved = authenticatedAt.getTime() !== NEVER_AUTHENTICATED.getTime();
  return {
    authenticatedAt: isProved ? authenticatedAt.getTime() - telling.startedAt : null,
    factors: factors.map((one) => shapeOfFactor(one, telling)),
  };
}

/** Members of a profile that are told of, beside identifiers. */
const profileMembers = ["name", "given_name", "family_name", "picture"] as const;

function accountSkeleton(
  { stored, profile, sessions, belongings }: Account,
  { id }: Session,
  { config }: Telling,
): AccountSkeleton {
  const { credentials, emails, phone } = stored;
  return {
    has: Object.entries(stored.has).flatMap(([name, has]) => (has ? name : [])),
    emails: emails.map(({ isPrimary, verifiedAt }) => `${isPrimary ? "p" : ""}${verifiedAt ? "v" : ""}`),
    username: stored.username !== null,
    phone: phone === null ? "none" : phone.verifiedAt ? "verified" : "unverified",
    passkeys: countOf(credentials.filter(({ mfaOnly }) => !mfaOnly)),
    securityKeys: countOf(credentials.filter(({ mfaOnly }) => mfaOnly)),
    identities: stored.identities.map(({ provider }) => namedProvider(provider, config)),
    profile: profileMembers.filter((member) => profile[member] !== undefined),
    otherSessions: countOf(sessions.filter((session) => session.id !== id)),
    authenticators: countOf(belongings.phones),
    applications: countOf(belongings.applications),
    recoveryCodes: belongings.recoveryCodesLeft,
  };
}

function outcomeSkeleton(outcome: Outcome, telling: Telling): OutcomeSkeleton {
  if (outcome.kind === "reject") {
    const { code, input, renew } = outcome;
    return { rejects: code, ...(input === undefined ? {} : { input }), renews: renew };
  }
  const { to, commits, enters, effects } = outcome;
  const { data, facts, via, proceedsAfterProof } = effects;
  return {
    to,
    commits,
    enters,
    ...(data ? { data: dataSkeleton(data, telling) } : {}),
    ...(facts
      ? {
          facts: Object.fromEntries(
            Object.entries(facts).map(([name, fact]) => [name, factSkeleton(fact, telling)]),
          ),
        }
      : {}),
    ...(via ? { via } : {}),
    ...(proceedsAfterProof ? { proceeds: true } : {}),
  };
}

function factSkeleton(fact: string | boolean | Date | null | undefined, { startedAt }: Telling) {
  if (typeof fact === "string") return TEXT;
  return fact instanceof Date ? fact.getTime() - startedAt : (fact ?? null);
}

type EnteredSkeleton = NonNullable<StepSkeleton["entered"]>[number];

/** A state that prepares nothing which decides a step is left out. */
function enteredSkeleton(
  state: EnteredSkeleton["state"],
  { data, error }: Entered,
  telling: Telling,
): EnteredSkeleton[] {
  if (!data && !error) return [];
  return [
    {
      state,
      ...(data ? { data: dataSkeleton(data, telling) } : {}),
      ...(error ? { error: errorSkeleton(error) } : {}),
    },
  ];
}

const errorSkeleton = ({ code, inputs }: StepError) => ({
  code,
  ...(inputs ? { inputs: codesOf(inputs) } : {}),
});

/** Describes data of a flow, or a change of it: a member that is removed is null. */
function dataSkeleton(data: DataPatch, telling: Telling): Record<string, Json> {
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [
      name,
      value === undefined ? null : shapeOf(flowData.shape[name as keyof DataPatch])(value, telling),
    ]),
  );
}

const shapeOfFactor: Shaper = (value, telling) => shapeOf(factor)(value, telling);

/** A SAML provider is named by its position in the settings: its entity id is an address. */
function namedProvider(provider: string, config: Config): string {
  const [, entityId] = /^saml:(.*)$/s.exec(provider) ?? [];
  return entityId === undefined ? provider : `saml:${TEXT}${samlProviderPosition(config, entityId) ?? ""}`;
}

/** How texts are told that decide a step by more than being there. `recordedAs` of the schema of such a text names one. */
const tellings: Record<NonNullable<z.GlobalMeta["recordedAs"]>, Shaper> = {
  provider: (value, { config }) => (typeof value === "string" ? namedProvider(value, config) : TEXT),
  account_key: (value) =>
    typeof value === "string" && isKeyOfSession(value) ? `${value.split(".")[0]}.${TEXT}` : TEXT,
};

declare module "zod" {
  interface GlobalMeta {
    /** How the recorder describes this text of a flow. Default: that there is one. */
    recordedAs?: "provider" | "account_key";
  }
}

/** Returns what describes a value of a schema. It is made once. */
const shapeOf = onceFor((schema: z.core.$ZodType): Shaper => {
  const { recordedAs } = z.globalRegistry.get(schema) ?? {};
  if (recordedAs) return tellings[recordedAs];
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case "optional":
    case "nullable":
    case "default":
    case "prefault":
    case "readonly":
      return shapeOf(def.innerType);
    case "boolean":
    case "enum":
    case "literal":
      return (value) => value as Json;
    case "string": {
      const { format } = def as { format?: string };
      if (format === "datetime")
        return (value, { startedAt }) => new Date(Date.parse(String(value)) - startedAt).toISOString();
      return () => (format === "uuid" || format === "guid" ? ID : TEXT);
    }
    case "array": {
      const element = shapeOf(def.element);
      return (value, telling) => (value as unknown[]).map((one) => element(one, telling));
    }
    case "object":
      return (value, telling) =>
        Object.fromEntries(
          Object.entries(value as object).flatMap(([name, member]) => {
            const shape = def.shape[name];
            if (member === undefined || (!shape && !def.catchall)) return [];
            return [[name, shape ? shapeOf(shape)(member, telling) : anyShape(member)]];
          }),
        );
    case "union": {
      const options = def.options.map((option) => ({ option, shape: shapeOf(option) }));
      return (value, telling) => {
        const found = options.find(({ option }) => z.safeParse(option, value).success);
        return found ? found.shape(value, telling) : anyShape(value);
      };
    }
    default:
      return anyShape;
  }
});

/** Describes a value without a schema: a map has any names. */
function anyShape(value: unknown): Json {
  if (typeof value === "string") return TEXT;
  if (typeof value === "number") return 0;
  if (Array.isArray(value)) return value.map(anyShape);
  if (typeof value !== "object" || value === null) return (value as boolean | null | undefined) ?? null;
  return Object.fromEntries(
    Object.values(value).map((member, index) => [`${TEXT}${index}`, anyShape(member)]),
  );
}
