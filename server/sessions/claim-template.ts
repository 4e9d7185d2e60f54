import { and, eq, sql } from "drizzle-orm";
import { type Databases, schema } from "#db/client";
import { prepared } from "#db/prepared";
import type { Metadata } from "#db/schema/users";
import type { Tenant } from "../config/tenant.ts";
import type { TenantContext } from "../context/context.ts";
import { pictureAddress } from "../identity/picture.ts";
import {
  executeTemplate,
  type Json,
  parseTemplate,
  type Template,
  type TemplateBudget,
  TemplateError,
  TemplateStruct,
} from "../lib/go-template.ts";
import { onceFor } from "../lib/once-for.ts";
import { StepBudget } from "../lib/step-budget.ts";
import type { Logs } from "../observability/logger.ts";
import { jsonPath } from "./json-path.ts";
import type { UserClaims } from "./session-claims.ts";

/** Claims that `session.jwt_template.claims` adds to the tokens of sessions. */

/** Limit of these claims in a token, in bytes of JSON: browsers drop cookies of more than 4096 bytes. */
export const MAX_TEMPLATE_CLAIM_BYTES = 1536;

/** Steps of one claim, so that a slow one does not cost the others. */
export const MAX_CLAIM_STEPS = 4_000;

/** Steps of all claims of a token. */
export const MAX_TOKEN_STEPS = 20_000;

const { users } = schema;

/** What templates read of a stored user. */
const { name, givenName, familyName, picture, publicMetadata, unsafeMetadata } = schema.users;
const profile = { name, givenName, familyName, picture, publicMetadata, unsafeMetadata };

/** The data of templates, under `.User`. */
export type TemplateUser = UserClaims & Pick<typeof users.$inferSelect, "id" | keyof typeof profile>;

/**
 * Evaluates the configured claims for a user. A claim whose template fails, and one that would make the token too long,
 * is logged and left out. Without configured claims the database is not asked.
 *
 * @param user the names that the caller has read; the account need not be stored yet
 */
export async function templateClaims(
  { runtime, tenant }: TenantContext<Databases & Logs>,
  user: UserClaims & { id: string },
): Promise<Record<string, Json>> {
  const { claims } = tenant.config.session.jwt_template;
  if (Object.keys(claims).length === 0) return {};
  const [stored] = await templateUser(runtime.database.read).execute({ tenantId: tenant.id, id: user.id });
  const data = describeUser({ ...noProfile, ...profileIn(tenant, stored), ...user });
  const { values, leftOut } = evaluateClaims(claims, data);
  for (const { claim, reason } of leftOut)
    runtime.log.warn({ tenant: tenant.id, claim, reason }, "a claim of session.jwt_template is left out");
  return values;
}

/** The claims of a token, and those that it cannot have. */
export interface EvaluatedClaims {
  values: Record<string, Json>;
  leftOut: { claim: string; reason: string }[];
  /** Steps that the evaluation took. */
  steps: number;
}

/** Evaluates all claims of a token, within its bounds of steps and of output. */
export function evaluateClaims(configured: ConfiguredClaims, data: TemplateStruct): EvaluatedClaims {
  const claims = parsedClaims(configured).map(({ claim, parsed }) => ({
    claim,
    evaluate(budget: TemplateBudget) {
      if (parsed instanceof TemplateError) throw parsed;
      return evaluateClaim(parsed, data, budget);
    },
  }));
  return boundedClaims(claims, MAX_TEMPLATE_CLAIM_BYTES);
}

/** A claim that is still to be evaluated. */
export interface PendingClaim {
  claim: string;
  /**
   * @returns undefined if there is no value
   * @throws TemplateError
   */
  evaluate(budget: TemplateBudget): Json | undefined;
}

/**
 * Evaluates claims within bounds of steps and of output. A claim that fails, and one that goes beyond, is left out.
 *
 * @param maxBytes of all values, as JSON
 */
export function boundedClaims(claims: readonly PendingClaim[], maxBytes: number): EvaluatedClaims {
  const values = new Map<string, Json>();
  const leftOut: EvaluatedClaims["leftOut"] = [];
  let bytes = 0;
  let steps = 0;
  for (const { claim, evaluate } of claims) {
    const budget = {
      steps: new StepBudget(Math.max(0, Math.min(MAX_CLAIM_STEPS, MAX_TOKEN_STEPS - steps))),
      bytes: new StepBudget(maxBytes - bytes),
    };
    try {
      const value = evaluate(budget);
      if (value !== undefined) {
        const length = Buffer.byteLength(JSON.stringify({ [claim]: value }));
        if (bytes + length > maxBytes) throw new TemplateError("the token would be too long");
        bytes += length;
        values.set(claim, value);
      }
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      leftOut.push({ claim, reason: error.message });
    }
    steps += budget.steps.spent;
  }
  return { values: Object.fromEntries(values), leftOut, steps };
}

/** Claims of a configuration: constants, or templates. */
type ConfiguredClaims = Readonly<Record<string, Json>>;

/** Parses the claims of a configuration once. */
const parsedClaims = onceFor(
  (configured: ConfiguredClaims): { claim: string; parsed: Claim | TemplateError }[] =>
    Object.entries(configured).map(([claim, template]) => {
      try {
        return { claim, parsed: parseClaim(template) };
      } catch (error) {
        if (!(error instanceof TemplateError)) throw error;
        return { claim, parsed: error };
      }
    }),
);

/**
 * Returns one line for each configured claim whose template cannot be parsed, and so is never set.
 *
 * @param setting that has the claims
 */
export function malformedClaimTemplates(claims: ConfiguredClaims, setting: string): string[] {
  return parsedClaims(claims).flatMap(({ claim, parsed }) =>
    parsed instanceof TemplateError
      ? [`${setting} has a malformed template for ${claim}: ${parsed.message}`]
      : [],
  );
}

/** A parsed claim. */
export type Claim =
  | { kind: "constant"; value: Json }
  | { kind: "template"; template: Template }
  | { kind: "list"; items: Claim[] }
  | { kind: "object"; members: [string, Claim][] };

/**
 * Parses a claim: strings are templates, also inside lists and objects; other values are constants.
 *
 * @throws TemplateError
 */
export function parseClaim(template: Json): Claim {
  if (Array.isArray(template)) return { kind: "list", items: template.map(parseClaim) };
  if (typeof template === "object" && template !== null)
    return {
      kind: "object",
      members: Object.entries(template).map(([name, member]) => [name, parseClaim(member)]),
    };
  if (typeof template === "string" && template.includes("{{"))
    return { kind: "template", template: parseTemplate(template) };
  return { kind: "constant", value: template };
}

/**
 * Evaluates a claim.
 *
 * A template of one action has the type of its value, except that a number becomes text. Any other template gives text;
 * if the template alone has written it, as with `{{if …}}`, then `true`, `false`, and a JSON object or list are parsed.
 * Text with values in it is never parsed, because users choose some of these values.
 *
 * @throws TemplateError
 */
export function evaluateClaim(claim: Claim, data: TemplateStruct, budget: TemplateBudget): Json {
  if (claim.kind === "constant") {
    // Its exact length counts when the claim is complete.
    if (!budget.bytes.take(typeof claim.value === "string" ? claim.value.length : 1))
      throw new TemplateError("its value is too long");
    return claim.value;
  }
  if (claim.kind === "list") return claim.items.map((item) => evaluateClaim(item, data, budget));
  if (claim.kind === "object")
    return Object.fromEntries(
      claim.members.map(([name, member]) => [name, evaluateClaim(member, data, budget)]),
    );
  const { text, value, hasValues } = executeTemplate(claim.template, data, budget);
  if (value !== undefined) return typeof value === "number" ? text : value;
  return hasValues ? text : typed(text);
}

/** The data of templates. Names that a user does not have are empty; a missing address is nothing. */
export function describeUser(user: TemplateUser): TemplateStruct {
  const email = user.email ? describeEmail(user.email, user.emailVerified ?? false) : null;
  const metadata = { public_metadata: user.publicMetadata, unsafe_metadata: user.unsafeMetadata } as Json;
  const names = {
    username: user.username ?? "",
    name: user.name ?? "",
    given_name: user.givenName ?? "",
    family_name: user.familyName ?? "",
    picture: user.picture ?? "",
  };
  const described = new TemplateStruct(
    {
      UserID: user.id,
      Email: email,
      Username: names.username,
      Name: names.name,
      GivenName: names.given_name,
      FamilyName: names.family_name,
      Picture: names.picture,
      Metadata: new TemplateStruct(
        { Public: metadataMethod(user.publicMetadata), Unsafe: metadataMethod(user.unsafeMetadata) },
        metadata,
      ),
    },
    { user_id: user.id, ...(email ? { email: email.json } : {}), ...names, metadata },
  );
  return new TemplateStruct({ User: described }, { user: described.json });
}

function describeEmail(address: string, verified: boolean): TemplateStruct {
  return new TemplateStruct(
    { Address: address, IsPrimary: true, IsVerified: verified },
    { address, is_primary: true, is_verified: verified },
  );
}

/** A missing member is an empty text. */
const metadataMethod =
  (metadata: Metadata) =>
  (given: readonly unknown[], steps: StepBudget): Json => {
    const [path, ...others] = given;
    if (path === undefined) return metadata as Json;
    if (typeof path !== "string" || others.length > 0)
      throw new TemplateError("metadata is read by one path in quotes");
    return jsonPath(metadata as Json, path, steps) ?? "";
  };

/** The value of text that a template has written. */
function typed(text: string): Json {
  const trimmed = text.trim();
  if (!/^(true|false|\{[\s\S]*\}|\[[\s\S]*\])$/.test(trimmed)) return text;
  try {
    return JSON.parse(trimmed) as Json;
  } catch {
    return text;
  }
}

const noProfile = {
  name: null,
  givenName: null,
  familyName: null,
  picture: null,
  publicMetadata: {},
  unsafeMetadata: {},
};

function profileIn({ config }: Tenant, stored: { picture: string | null } | undefined) {
  return stored && { ...stored, picture: pictureAddress(config, stored.picture) };
}

const templateUser = prepared("template_user", (db) =>
  db
    .select(profile)
    .from(users)
    .where(and(eq(users.tenantId, sql.placeholder("tenantId")), eq(users.id, sql.placeholder("id")))),
);
