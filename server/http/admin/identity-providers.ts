import { z } from "zod";
import { ConfigError } from "../../config/errors.ts";
import type { Tree } from "../../lib/tree.ts";
import type { Runtime } from "../../runtime.ts";
import { TenantError } from "../../tenants/manage-tenants.ts";
import type { changeOAuthProvider, deleteOAuthProvider } from "../../tenants/oauth-providers.ts";
import { checkNames, type Finding } from "../../thirdparty/findings.ts";
import type { HandlerContext } from "../table/handler-context.ts";
import { INVALID_INPUT, type UntaggedRow } from "../table/operation.ts";
import { NOT_FOUND } from "./admin-operation.ts";
import { conditionsOf, lockOutQuery, tenantConflict } from "./change-conditions.ts";
import { changingParty, tenantOperation, tenantPlaces } from "./tenants.ts";

/** The operations on identity providers of tenants, which are those of OAuth and of SAML. */

export const INVALID = "A setting of the provider is invalid; the message names it.";

const finding = z
  .strictObject({
    check: z.enum(checkNames),
    outcome: z.enum(["ok", "warning", "error"]),
    message: z.string(),
  })
  .meta({ id: "ProviderFinding" });

const checked = { 200: { schema: z.array(finding) }, 400: INVALID, 404: NOT_FOUND };

/** What the description of each check says. */
const CHECK =
  "Nothing is saved. The documents of the provider are read as at a sign-in: with its limits of size and time, and without redirects.";

/** A check of settings that are not valid has one finding, which says why. */
async function findingsOf(check: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await check();
  } catch (error) {
    const isInvalid =
      error instanceof ConfigError || (error instanceof TenantError && error.reason === "invalid");
    if (!isInvalid) throw error;
    return [{ check: "settings", outcome: "error", message: `${error.message}.` }];
  }
}

export const isOff: Finding = {
  check: "enabled",
  outcome: "warning",
  message: "The provider is not enabled: users are not offered it.",
};

/** The answer 409 of a change. */
export const conflict = (description: string) => ({
  schema: tenantConflict,
  description: `${description} Or users would be locked out (\`unless_locked_out\`).`,
});

type TenantPlace = (typeof tenantPlaces)[number];

type Answers = UntaggedRow["operation"]["answers"];

/** What the providers of one protocol have of their own. */
interface Protocol<CheckBody extends z.ZodType> {
  /** In paths. */
  protocol: "oauth" | "saml";
  /** In the ids of operations. */
  id: "OAuthProvider" | "SamlProvider";
  /** In summaries. */
  noun: { one: "an OAuth provider" | "a SAML provider"; many: "OAuth providers" | "SAML providers" };
  object: z.ZodType;
  /** The id of a provider in a path; default: a UUID. */
  params?: { provider_id: z.ZodType<string> };
  /** Errors of changes, and of reads. */
  errors: Answers;
  readErrors?: Answers;
  check: {
    body: CheckBody;
    errors: Answers;
    findings(tenantId: string, context: HandlerContext, body: z.output<CheckBody>): Promise<Finding[]>;
  };
  patch: z.ZodType<Tree>;
  patchDescription: string;
  /** In the summary of the deletion: what else it deletes. */
  alsoDeleted?: string;
  list(runtime: Runtime, tenantId: string): Promise<readonly { id: string }[]>;
  change: (...parameters: Parameters<typeof changeOAuthProvider>) => Promise<object>;
  remove: typeof deleteOAuthProvider;
  create(place: TenantPlace): UntaggedRow;
  replace?(place: TenantPlace): UntaggedRow;
}

/** Makes the rows of the operations on providers of a protocol, at both places of tenants. */
export function providerOperations<CheckBody extends z.ZodType>(
  declared: Protocol<CheckBody>,
): UntaggedRow[] {
  const { protocol, id, noun, object, params = {}, errors, readErrors = {}, check } = declared;
  return tenantPlaces.flatMap((place) => {
    const { prefix, suffix, of } = place;
    const all = `${prefix}/${protocol}/providers` as const;
    const one = `${all}/{provider_id}` as const;
    return [
      tenantOperation(`POST ${prefix}/${protocol}/provider_check`, {
        id: `check${id}${suffix}`,
        changesNothing: true,
        // It makes this server send requests.
        role: "administrator",
        roleAtDefaultTenant: "operator",
        summary: `Check what the settings of ${noun.one} of ${of} lead to`,
        description: CHECK,
        body: check.body,
        answers: { ...checked, ...check.errors },
        perform: (tenant, context, { body }) => findingsOf(() => check.findings(tenant, context, body)),
      }),
      tenantOperation(`GET ${all}`, {
        id: `list${id}s${suffix}`,
        summary: `List the ${noun.many} of ${of}`,
        // The 400 is published for the tenant of the key too, whose path has no parameter.
        answers: { 200: { schema: z.array(object) }, 400: INVALID_INPUT, 404: NOT_FOUND, ...readErrors },
        perform: (tenant, { runtime }) => declared.list(runtime, tenant),
      }),
      declared.create(place),
      tenantOperation(`GET ${one}`, {
        id: `get${id}${suffix}`,
        summary: `Get ${noun.one} of ${of}`,
        params,
        answers: { 200: { schema: object }, ...readErrors },
        perform: async (tenant, { runtime }, { params }) =>
          (await declared.list(runtime, tenant)).find(({ id }) => id === params.provider_id),
      }),
      ...(declared.replace ? [declared.replace(place)] : []),
      tenantOperation(`PATCH ${one}`, {
        id: `change${id}${suffix}`,
        summary: `Change settings of ${noun.one} of ${of}`,
        description: declared.patchDescription,
        params,
        body: declared.patch,
        answers: { 200: { schema: object }, ...errors },
        query: lockOutQuery,
        async perform(tenant, context, { params, query, body: patch }) {
          const change = { patch, ...(await conditionsOf(context, tenant, query)) };
          const by = changingParty(context);
          return declared.change(context.runtime, tenant, params.provider_id, change, by);
        },
      }),
      tenantOperation(`DELETE ${one}`, {
        id: `delete${id}${suffix}`,
        summary: `Delete ${noun.one} of ${of}${declared.alsoDeleted ?? ""}`,
        params,
        answers: { 204: "The provider is deleted.", ...errors },
        query: lockOutQuery,
        async perform(tenant, context, { params, query }) {
          const conditions = await conditionsOf(context, tenant, query);
          const by = changingParty(context);
          await declared.remove(context.runtime, tenant, params.provider_id, conditions, by);
          return true;
        },
      }),
    ];
  });
}
