import { and, eq, sql } from "drizzle-orm";
import { schema } from "#db/client";
import { prepared } from "#db/prepared";
import type { Metadata } from "#db/schema/users";
import { pictureAddress } from "../identity/picture.ts";
import {
  executeTemplate,
  type Json,
  parseTemplate,
  TemplateError,
  TemplateStruct,
} from "../lib/go-template.ts";
import type { TenantContext } from "../runtime.ts";
import type { Tenant } from "../tenants/tenant.ts";
import { jsonPath } from "./json-path.ts";
import type { UserClaims } from "./session-claims.ts";

/** Claims that `session.jwt_template.claims` adds to the tokens of sessions. */

/** Limit of these claims in a token, in bytes of JSON: browsers drop cookies of more than 4096 bytes. */
export const MAX_TEMPLATE_CLAIM_BYTES = 1536;

const { users } = schema;

/** The data of templates, under `.User`. */
export interface TemplateUser extends UserClaims {
  id: string;
  name: string | null;
  givenName: string | null;
  familyName: string | null;
  picture: string | null;
  publicMetadata: Metadata;
  unsafeMetadata: Metadata;
}

/**
 * Evaluates the configured claims for a user. A claim whose template fails, and one that would make the token too long,
 * is logged and left out. Without configured claims the database is not asked.
 *
 * @param user the names that the caller has read; the account need not be stored yet
 */
export async function templateClaims(
  { runtime, tenant }: TenantContext,
  user: UserClaims & { id: string },
): Promise<Record<string, Json>> {
  const configured = Object.entries(tenant.config.session.jwt_template.claims);
  if (configured.length === 0) return {};
  const [stored] = await templateUser(runtime.database.read).execute({ tenantId: tenant.id, id: user.id });
  const data = describeUser({ ...noProfile, ...profileIn(tenant, stored), ...user });
  const claims = new Map<string, Json>();
  let bytes = 0;
  for (const [claim, template] of configured) {
    const leaveOut = (reason: string) =>
      runtime.log.warn({ tenant: tenant.id, claim, reason }, "a claim of session.jwt_template is left out");
    try {
      const value = evaluateClaim(template, data);
      const length = Buffer.byteLength(JSON.stringify({ [claim]: value }));
      if (bytes + length > MAX_TEMPLATE_CLAIM_BYTES) {
        leaveOut("the token would be too long");
        continue;
      }
      bytes += length;
      claims.set(claim, value);
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      leaveOut(error.message);
    }
  }
  return Object.fromEntries(claims);
}

/** Returns one line for each configured claim whose template cannot be parsed, and so is never set. */
export function malformedClaimTemplates(claims: Record<string, Json>): string[] {
  return Object.entries(claims).flatMap(([claim, template]) => {
    try {
      parseAll(template);
      return [];
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      return [`STILE_SESSION_JWT_TEMPLATE_CLAIMS has a malformed template for ${claim}: ${error.message}`];
    }
  });
}

/**
 * Evaluates a claim: strings are templates, also inside lists and objects; other values are constants.
 *
 * A template of one action has the type of its value, except that a number becomes text. Any other template gives text;
 * if the template alone has written it, as with `{{if …}}`, then `true`, `false`, and a JSON object or list are parsed.
 * Text with values in it is never parsed, because users choose some of these values.
 *
 * @throws TemplateError
 */
export function evaluateClaim(template: Json, data: TemplateStruct): Json {
  if (Array.isArray(template)) return template.map((item) => evaluateClaim(item, data));
  if (typeof template === "object" && template !== null)
    return Object.fromEntries(
      Object.entries(template).map(([name, member]) => [name, evaluateClaim(member, data)]),
    );
  if (typeof template !== "string") return template;
  const { text, value, hasValues } = executeTemplate(parseTemplate(template), data);
  if (value !== undefined) return typeof value === "number" ? text : value;
  return hasValues || !template.includes("{{") ? text : typed(text);
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
  (...given: readonly unknown[]): Json => {
    const [path, ...others] = given;
    if (path === undefined) return metadata as Json;
    if (typeof path !== "string" || others.length > 0)
      throw new TemplateError("metadata is read by one path in quotes");
    return jsonPath(metadata as Json, path) ?? "";
  };

function parseAll(template: Json): void {
  if (typeof template === "string") parseTemplate(template);
  else if (typeof template === "object" && template !== null) Object.values(template).forEach(parseAll);
}

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
    .select({
      name: users.name,
      givenName: users.givenName,
      familyName: users.familyName,
      picture: users.picture,
      publicMetadata: users.publicMetadata,
      unsafeMetadata: users.unsafeMetadata,
    })
    .from(users)
    .where(and(eq(users.tenantId, sql.placeholder("tenantId")), eq(users.id, sql.placeholder("id")))),
);
