import { z } from "zod";
import type { Config } from "../config/schema.ts";
import { factsByIdentifier } from "../identity/facts.ts";
import { type IdentifierKind, identifierOf, identifiers } from "../identity/identifiers.ts";
import type { Context, View } from "./define.ts";
import { byConfig } from "./inputs.ts";
import { type Outcome, reject } from "./outcome.ts";

/** What is wrong with an entered identifier: `parse` refuses it, or another account has it. */
type IdentifierError<Kind extends IdentifierKind> = ErrorsByKind[Kind];

type ErrorsByKind = {
  [Each in (typeof identifiers)[number] as Each["kind"]]:
    | Each["errors"]["invalid"][number]
    | Each["errors"]["taken"];
};

type Rejected<Kind extends IdentifierKind> = { ok: false; rejection: Outcome<never, IdentifierError<Kind>> };

/** The field in which a user enters an identifier. */
export function identifierField(kind: IdentifierKind, config: Config): z.ZodString {
  const { type, minLength, maxLength } = identifierOf(kind).field(config);
  const field = z.string().trim().min(minLength).max(maxLength);
  return field.meta({ ...(type === "string" ? {} : { input: type }), preserve: true });
}

/** The inputs of actions that take one identifier, each under the name of its kind. */
export const identifierInputs = Object.fromEntries(
  identifiers.map(({ kind }) => [
    kind,
    byConfig((config) => z.strictObject({ [kind]: identifierField(kind, config) })),
  ]),
) as { [Kind in IdentifierKind]: (view: View) => z.ZodObject<Record<Kind, z.ZodString>> };

/** The errors of an action that takes an identifier of these kinds. */
export function identifierErrors<Kind extends IdentifierKind>(...kinds: Kind[]): IdentifierError<Kind>[] {
  const codes = kinds.map(identifierOf).flatMap(({ errors }) => [...errors.invalid, errors.taken]);
  return [...new Set(codes)] as IdentifierError<Kind>[];
}

/** Reads an identifier that the user entered. @returns it in canonical form, or the rejection of the action */
export function readIdentifier<Kind extends IdentifierKind>(
  kind: Kind,
  text: string,
  config: Config,
): { ok: true; value: string } | Rejected<Kind> {
  const parsed = identifierOf(kind).parse(text, config);
  return parsed.ok ? parsed : rejected(kind, parsed.reason);
}

/**
 * Finds whether another account has an identifier. If it is told, the action is rejected: where no code verifies it, so
 * that the states could not keep it secret, and where the configuration shows which accounts exist.
 */
export async function findOwner<Kind extends IdentifierKind>(
  { db, request, data, config }: Pick<Context, "db" | "request" | "data" | "config">,
  kind: Kind,
  value: string,
): Promise<{ ok: true; taken: boolean } | Rejected<Kind>> {
  const { requiresVerification, errors } = identifierOf(kind);
  const owner = await factsByIdentifier(db, request.tenant.id, kind, value);
  const taken = owner !== null && owner.userId !== data.userId;
  const isTold = !requiresVerification(config) || config.privacy.show_account_existence_hints;
  return taken && isTold ? rejected(kind, errors.taken) : { ok: true, taken };
}

/** Reads an identifier that the user entered, and finds whether another account has it. */
export async function enteredIdentifier<Kind extends IdentifierKind>(
  context: Pick<Context, "db" | "request" | "data" | "config">,
  kind: Kind,
  text: string,
): Promise<{ ok: true; value: string; taken: boolean } | Rejected<Kind>> {
  const read = readIdentifier(kind, text, context.config);
  if (!read.ok) return read;
  const owned = await findOwner(context, kind, read.value);
  return owned.ok ? { ...owned, value: read.value } : owned;
}

function rejected<Kind extends IdentifierKind>(
  kind: Kind,
  code: ErrorsByKind[IdentifierKind],
): Rejected<Kind> {
  return { ok: false, rejection: reject(code as IdentifierError<Kind>, { input: kind }) };
}
