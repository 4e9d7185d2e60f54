import type { Config } from "../../config/schema.ts";
import { onceFor } from "../../lib/once-for.ts";
import { StepBudget } from "../../lib/step-budget.ts";
import {
  MAX_ENTRIES,
  MAX_MATCHING_STEPS,
  matchesPattern,
  parsePattern,
  patternFault,
  subjectOf,
  type Wildcard,
  type WildcardPattern,
} from "../../lib/wildcard-pattern.ts";

/** Scheme, host name of 253 characters (RFC 1035, 2.3.4) and port. */
const MAX_ORIGIN_LENGTH = "https://".length + 253 + ":65535".length;

/** `*` stands for one or more labels of a host name, for a part of one, or for a port. */
const labels: Wildcard = { takes: (character) => /[a-z0-9.-]/.test(character), least: 1, inner: "." };

/**
 * Whether pages of an origin may call the passkey server: the origins that the tenant lists, else the relying party's.
 * The configuration rejects an unintended pattern for every host.
 *
 * @param origin as browsers send it, in lower case
 * @param budget steps of matching patterns; a used-up budget ends the list
 */
export function isPasskeyOrigin(
  origin: string,
  { passkey_server }: Config,
  budget: StepBudget = new StepBudget(MAX_MATCHING_STEPS),
): boolean {
  const { cors, relying_party } = passkey_server;
  if (origin === "null" || origin.length > MAX_ORIGIN_LENGTH) return false;
  const { any, exact, patterns } = parsedList(
    cors.allowed_origins.length > 0 ? cors.allowed_origins : relying_party.origins,
  );
  if (any || exact.has(origin)) return true;
  // An empty label belongs to no host name.
  if (patterns.length === 0 || origin.includes("..")) return false;
  const text = subjectOf(origin);
  return patterns.some((pattern) => !budget.isUsedUp && matchesPattern(pattern, text, budget));
}

/** The entries of a list, parsed once: lists of the configuration stay the same objects. `any`: it has `*` alone. */
const parsedList = onceFor((entries: readonly string[]) => {
  const listed = entries.slice(0, MAX_ENTRIES).map((entry) => entry.toLowerCase());
  return {
    any: listed.includes("*"),
    exact: new Set(listed),
    patterns: listed.flatMap((entry) => (entry.includes("*") ? (parse(entry) ?? []) : [])),
  };
});

/** @param entry without a scheme, it is https */
function parse(entry: string): WildcardPattern | null {
  if (patternFault(entry)) return null;
  const [, scheme = "https://", host = ""] = /^(https?:\/\/)?(.*)$/.exec(entry) ?? [];
  return parsePattern([scheme, ...host.split(/(\*+)/).map((part) => (part.startsWith("*") ? labels : part))]);
}
