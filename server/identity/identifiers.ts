import type { Config } from "../config/schema.ts";
import { email } from "./email/index.ts";
import type { Identifier } from "./identifier.ts";
import { phone } from "./phone/index.ts";
import { username } from "./username/index.ts";

/** Every kind of identifier, in the order in which an account is named by what it has. */
export const identifiers = [email, username, phone] as const satisfies readonly Identifier[];

type Identifiers = (typeof identifiers)[number];

export type IdentifierKind = Identifiers["kind"];

export const identifierKinds = identifiers.map(({ kind }) => kind) as [IdentifierKind, ...IdentifierKind[]];

/** A kind whose owner proves it by a code that is sent to it. */
export type VerifiedIdentifier = Extract<Identifiers, { verified: string }>;

export const verifiedIdentifiers = identifiers.filter(
  (identifier): identifier is VerifiedIdentifier => identifier.verified !== null,
);

type VerifiedFact = VerifiedIdentifier["verified"];

/** What an account is called by, of each kind the primary one, and whether its owner has proved it. */
export type IdentifierFacts = Record<IdentifierKind, string | null> & Record<VerifiedFact, boolean>;

/** The record of a kind. */
export function identifierOf<Kind extends IdentifierKind>(kind: Kind): Extract<Identifiers, { kind: Kind }> {
  const found: Identifiers | undefined = identifiers.find((identifier) => identifier.kind === kind);
  if (!found) throw new Error(`there is no identifier ${kind}`);
  return found as Extract<Identifiers, { kind: Kind }>;
}

/** Builds the facts about identifiers; an absent one is null, and not verified. */
export function identifierFacts(
  present: {
    [Name in keyof IdentifierFacts]?: IdentifierFacts[Name] | undefined;
  },
): IdentifierFacts {
  return Object.fromEntries(
    identifiers.flatMap(({ kind, verified }) => [
      [kind, present[kind] ?? null],
      ...(verified === null ? [] : [[verified, present[verified] ?? false]]),
    ]),
  );
}

/** The kinds that a sign-in can begin with. */
export function loginIdentifiers(config: Pick<Config, IdentifierKind>): Identifiers[] {
  return identifiers.filter(({ kind }) => config[kind].enabled && config[kind].use_as_login_identifier);
}

/** The kinds that a registration asks for. */
export function requestedIdentifiers(config: Pick<Config, IdentifierKind>): Identifiers[] {
  return identifiers.filter(({ kind }) => config[kind].enabled && config[kind].acquire_on_registration);
}

/** The first identifier of an account; null if it has none. */
export function firstIdentifier(
  facts: Pick<IdentifierFacts, IdentifierKind>,
): { kind: IdentifierKind; value: string } | null {
  for (const { kind } of identifiers) {
    const value = facts[kind];
    if (value !== null) return { kind, value };
  }
  return null;
}
