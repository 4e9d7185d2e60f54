import { X509Certificate } from "node:crypto";
import { z } from "zod";
import { isNestedDeeperThan } from "../../lib/nesting.ts";
import {
  MAX_ENTRIES,
  MAX_ENTRY_CHARACTERS,
  MAX_HOST_WILDCARDS,
  MAX_WILDCARDS,
  patternFault,
} from "../../lib/wildcard-pattern.ts";

declare module "zod" {
  interface GlobalMeta {
    /** Whether the value is stored sealed and never listed. */
    secret?: boolean;
    /** Whether a text is a name of the protocol, which recorded settings keep (`impersonal-settings.ts`). */
    impersonal?: boolean;
    /** Bounds of a duration in seconds. */
    minimum?: number;
    maximum?: number;
    /** Bounds of the characters of a text whose schema is a refinement. */
    minLength?: number;
    maxLength?: number;
    /** The most members of a map. */
    maxProperties?: number;
    /** Bounds of free JSON: its characters, and its nested levels. */
    maxJsonCharacters?: number;
    maxJsonLevels?: number;
    /** What a number counts. */
    unit?: "seconds";
    /** Wildcards of a pattern. */
    wildcards?: string;
  }
}

/**
 * Marks a rule as a bound: configuration from before it was made stays, without the entry that is beyond it
 * (`within-bounds.ts`). The longest length of a text or list is one without a mark.
 */
export interface BoundMark extends Record<string, unknown> {
  bound: true;
  /** Members of a map that stay. */
  maximum?: number;
}
const bound = (mark: Omit<BoundMark, "bound"> = {}): { params: BoundMark } => ({
  params: { bound: true, ...mark },
});

/** The longest address that settings take, as most browsers and proxies. */
const MAX_ADDRESS_CHARACTERS = 2048;

/** A certificate in PEM has some 2000 characters. */
const MAX_CERTIFICATE_CHARACTERS = 16_384;

/** A private key of 4096 bits has some 3300 characters in PEM. */
const MAX_SECRET_CHARACTERS = 4096;

/** No duration is longer: a time that far away can still be computed with. */
const MAX_DURATION_SECONDS = 100 * 365 * 86_400;

/** The kinds of values that settings have. */

const DURATION_UNITS = { s: 1, m: 60, h: 3600, d: 86_400 };

interface Bounds {
  min?: number;
  max?: number;
}

/**
 * A span of time, written `90s`, `5m`, `12h`, `30d`, or as a number of seconds. Parsed to seconds.
 *
 * @param bounds in seconds
 */
export const duration = ({ min = 0, max }: Bounds = {}) =>
  z
    .union([
      z.number().int().nonnegative(),
      z
        .string()
        .regex(/^\d+(s|m|h|d)?$/, "must be a duration like 90s, 5m, 12h or 30d")
        .max(20),
    ])
    .transform((value) => {
      const [, amount = "", unit = "s"] = /^(\d+)([smhd])?$/.exec(String(value)) ?? [];
      return Number(amount) * DURATION_UNITS[unit as keyof typeof DURATION_UNITS];
    })
    .refine(
      (value) => value >= min && value <= (max ?? Number.POSITIVE_INFINITY),
      max === undefined ? `must be at least ${min} seconds` : `must be between ${min} and ${max} seconds`,
    )
    .refine((value) => value <= MAX_DURATION_SECONDS, {
      error: `must not be more than ${MAX_DURATION_SECONDS} seconds`,
      ...bound(),
    })
    .meta({ minimum: min, maximum: max ?? MAX_DURATION_SECONDS, unit: "seconds" });

export const seconds = (fallback: number, bounds?: Bounds) => duration(bounds).prefault(fallback);

/** The most processes of one server that serve. */
const MAX_WORKERS = 64;

/** A number of processes that serve, or `auto`: one for each core. */
export const workerCount = () =>
  z
    .union([
      z.literal("auto"),
      z.number().int(),
      z.string().regex(/^\d+$/, "must be auto or a whole number").transform(Number),
    ])
    .refine(
      (value) => value === "auto" || (value >= 1 && value <= MAX_WORKERS),
      `must be auto, or between 1 and ${MAX_WORKERS}`,
    )
    .prefault(1);

export const flag = (fallback: boolean) => z.boolean().default(fallback);
export const count = (fallback: number, min = 0, max = 1_000_000) =>
  z.number().int().min(min).max(max).default(fallback);
/** A text of one line as a rule, of bounded length. */
export const line = (max = MAX_ENTRY_CHARACTERS) => z.string().min(1).max(max);
export const text = (fallback: string, max = MAX_ENTRY_CHARACTERS) => z.string().max(max).default(fallback);

/** An address of bounded length. */
export const address = () => z.url({ protocol: /^https?$/ }).max(MAX_ADDRESS_CHARACTERS);

/** A list of bounded length. */
export const listOf = <Entry extends z.ZodType>(entry: Entry, max = MAX_ENTRIES) => z.array(entry).max(max);
export const list = (fallback: string[] = []) => listOf(line()).default(fallback);

/** Standbys that a process keeps connections to. */
const MAX_REPLICAS = 8;

/** Addresses of databases, each of one server. They may hold passwords. */
export const databaseAddresses = () =>
  listOf(
    line(MAX_ADDRESS_CHARACTERS).regex(
      /^postgres(ql)?:\/\/(?:[^/?#@]*@)?[^/?#@,]*(?:[/?#]|$)/,
      "must be postgres:// addresses, each of one server",
    ),
    MAX_REPLICAS,
  )
    .meta({ secret: true })
    .default([]);

/** A list of patterns of origins, with wildcards in their hosts. */
export const originPatternList = () => listOf(withWildcards(line()));

const withWildcards = (entry: z.ZodString) =>
  entry
    .superRefine((value, context) => {
      const fault = patternFault(value);
      if (fault !== null) context.addIssue({ code: "custom", message: fault, ...bound() });
    })
    .meta({ wildcards: `at most ${MAX_HOST_WILDCARDS} wildcards in a host, ${MAX_WILDCARDS} in all` });

/** A map whose keys are free, with a bounded number of members. */
export const map = <Key extends z.ZodString, Value extends z.ZodType>(key: Key, value: Value, max: number) =>
  z
    .record(key, value)
    .refine((members) => Object.keys(members).length <= max, {
      error: `must not have more than ${max} members`,
      ...bound({ maximum: max }),
    })
    .meta({ maxProperties: max });

/** A key of a map. */
export const key = (max = 64) => z.string().max(max);

/** JSON of any shape, with a bounded length and depth. */
export const freeJson = ({ characters, levels }: { characters: number; levels: number }) =>
  z
    .json()
    .refine((value) => !isNestedDeeperThan(value, levels) && JSON.stringify(value).length <= characters, {
      error: `must not have more than ${characters} characters of JSON and ${levels} nested levels`,
      ...bound(),
    })
    .meta({ maxJsonCharacters: characters, maxJsonLevels: levels });

/** Origins (RFC 6454, 6.2), exactly as browsers send them. */
export const originList = (example: string) =>
  listOf(
    line()
      .refine((entry) => entry !== "*", "* would let every site act for its visitors")
      .refine(isOrigin, `must be origins like ${example}`),
  ).default([]);

/** An origin whose host has nothing that has a meaning in a policy of a page: `*`, `;`, `,`, `"`. */
const plainOrigin = /^https?:\/\/(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d+)?$/;

/** Origins of pages that may hold a frame of this service: over TLS, or on the machine of a developer. */
export const embedderList = () =>
  listOf(
    line()
      .refine(
        (entry) => isOrigin(entry) && plainOrigin.test(entry),
        "must be origins like https://app.example.com, without patterns",
      )
      .refine(isOverTlsOrLocal, "must be https, or http://localhost or http://*.localhost in development"),
  ).default([]);

/** Whether an origin is that of a page on the same machine, without TLS (RFC 6761, 6.3). */
export const isLocalOrigin = (origin: string) => /^http:\/\/(?:[a-z0-9-]+\.)*localhost(:\d+)?$/.test(origin);

/** Addresses that browsers may be sent to; `*` and `**` stand for parts of the path. */
export const redirectList = () =>
  listOf(withWildcards(line().regex(/^https?:\/\/[^/*]/, "must begin with a scheme and a host"))).default([]);

/** The longest host name (RFC 1035, 2.3.4). */
const MAX_HOST_CHARACTERS = 253;

/** Whether the origin of an address can be written into a policy of a page, which has no IPv6 addresses (CSP Level 3, 2.3.1). */
export function hasPlainOrigin(address: string): boolean {
  const { origin = "", hostname = "" } = URL.parse(address) ?? {};
  return plainOrigin.test(origin) && !hostname.startsWith("[") && hostname.length <= MAX_HOST_CHARACTERS;
}

/** Whether browsers load an address in a page over TLS: others are mixed content (W3C Mixed Content, 4.4). */
export function isOverTlsOrLocal(address: string): boolean {
  const { origin = "" } = URL.parse(address) ?? {};
  return origin.startsWith("https:") || isLocalOrigin(origin);
}

/** A relying party id or a domain. */
export const domain = () => line(MAX_HOST_CHARACTERS);

export const hostName = () =>
  line(MAX_HOST_CHARACTERS).regex(/^[^:/]+$/, "must be a host name, without scheme, port or path");

export const section = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject(shape).prefault({} as never);

/** One of a few words; the function takes the default. */
const choiceOf =
  <const Value extends string>(...values: Value[]) =>
  (fallback: NoInfer<Value>) =>
    z.enum(values).default(fallback as never);

export const choice = <const Value extends string>(values: Value[], fallback: NoInfer<Value>) =>
  choiceOf(...values)(fallback);

export const acquire = choiceOf("always", "conditional", "never");
export const userVerification = choiceOf("required", "preferred", "discouraged");
export const attachment = choiceOf("platform", "cross-platform", "no_preference");
export const attestationPreference = choiceOf("none", "indirect", "direct", "enterprise");
export const residentKey = choiceOf("discouraged", "preferred", "required");

export const cookieName = (fallback: string) =>
  z
    .string()
    .regex(/^[A-Za-z0-9_-]+$/, "must be a cookie name: letters, digits, _ and -")
    .max(100)
    .default(fallback);

/** Certificates in PEM. */
export const certificates = () =>
  listOf(
    line(MAX_CERTIFICATE_CHARACTERS).refine(isCertificate, "has an entry that is no certificate in PEM"),
  );

/** A secret of the operator that is long enough not to be guessed. */
export const longSecret = () => z.string().min(16, "needs at least 16 characters").meta({ secret: true });

/** A file is guessed at without a limit, by any who have it. */
export const MIN_BACKUP_KEY_CHARACTERS = 32;

export const backupKey = () =>
  z
    .string()
    .min(MIN_BACKUP_KEY_CHARACTERS, `needs at least ${MIN_BACKUP_KEY_CHARACTERS} characters`)
    .meta({ secret: true });

/** A value that is stored sealed, and that no list of settings shows. */
export const secret = () => line(MAX_SECRET_CHARACTERS).meta({ secret: true });

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).publicKey.type === "public";
  } catch {
    return false;
  }
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text;
}
