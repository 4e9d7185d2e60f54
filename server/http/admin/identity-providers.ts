import { z } from "zod";
import { samlProviderSettings } from "../../config/sections/identity-providers.ts";
import {
  changeOAuthProvider,
  deleteOAuthProvider,
  listOAuthProviders,
} from "../../tenants/oauth-providers.ts";
import {
  changeSamlProvider,
  createSamlProvider,
  deleteSamlProvider,
  listSamlProviders,
  patchedSamlProvider,
  type SamlProvider,
} from "../../tenants/saml-providers.ts";
import { uuid } from "../table/fields.ts";
import type { HandlerContext } from "../table/handler-context.ts";
import type { UntaggedRow } from "../table/operation.ts";
import { INVALID_INPUT } from "../table/operation.ts";
import { NOT_FOUND } from "./admin-operation.ts";
import { oauthProviderBody, oauthProviderPatch, samlProviderPatch } from "./settings-schema.ts";
import { changingParty, tenantOperation, tenantPlaces } from "./tenants.ts";

const INVALID = "A setting of the provider is invalid; the message names it.";

/** A change of one provider, which its body describes. Returns the provider. */
interface Change<Body extends z.ZodType> {
  body: Body;
  description?: string;
  perform(tenantId: string, context: HandlerContext, body: z.output<Body>, id: string): Promise<object>;
}

/** Identity providers of one protocol, at both places of tenants. */
interface ProviderKind<Created extends z.ZodType, Replaced extends z.ZodType, Patched extends z.ZodType> {
  /** Of the addresses. */
  path: string;
  /** As the names of operations and their summaries have it: `Saml`, `a SAML`. */
  name: string;
  one: string;
  id: z.ZodType<string>;
  object: z.ZodType;
  /** Errors of reading, and of changes. */
  errors: { 403?: string; 404: string };
  changeErrors: Record<400 | 403 | 404 | 409, string>;
  list(runtime: HandlerContext["runtime"], tenantId: string): Promise<{ id: string }[]>;
  create: Omit<Change<Created>, "perform"> & {
    perform(tenantId: string, context: HandlerContext, body: z.output<Created>): Promise<object>;
  };
  replace?: Change<Replaced>;
  patch: Change<Patched>;
  remove(tenantId: string, context: HandlerContext, id: string): Promise<void>;
  /** Of the summary of the removal. */
  alsoRemoves?: string;
}

function providerAddresses<Created extends z.ZodType, Replaced extends z.ZodType, Patched extends z.ZodType>(
  kind: ProviderKind<Created, Replaced, Patched>,
): UntaggedRow[] {
  const { name, one: aProvider, object, errors, changeErrors, list, create, replace, patch, remove } = kind;
  return tenantPlaces.flatMap(({ prefix, suffix, of }) => {
    const path = `${prefix}${kind.path}` as const;
    const item = `${path}/{provider_id}` as const;
    const params = { provider_id: kind.id };
    const [, protocol = ""] = aProvider.split(" ");
    return [
      tenantOperation(`GET ${path}`, {
        id: `list${name}Providers${suffix}`,
        summary: `List the ${protocol} providers of ${of}`,
        // Published for the tenant of the key too, although its path has no parameter.
        answers: { 200: { schema: z.array(object) }, 400: INVALID_INPUT, ...errors },
        perform: (tenant, { runtime }) => list(runtime, tenant),
      }),
      tenantOperation(`POST ${path}`, {
        id: `create${name}Provider${suffix}`,
        summary: `Add ${aProvider} provider to ${of}`,
        ...(create.description ? { description: create.description } : {}),
        body: create.body,
        answers: { 201: { schema: object }, ...changeErrors },
        perform: (tenant, context, { body }) => create.perform(tenant, context, body),
      }),
      tenantOperation(`GET ${item}`, {
        id: `get${name}Provider${suffix}`,
        summary: `Get ${aProvider} provider of ${of}`,
        params,
        answers: { 200: { schema: object }, ...errors },
        perform: async (tenant, { runtime }, { params }) =>
          (await list(runtime, tenant)).find(({ id }) => id === params.provider_id),
      }),
      ...(replace ? [changing("PUT", replace, "replace", "Replace the settings of")] : []),
      changing("PATCH", patch, "change", "Change settings of"),
      tenantOperation(`DELETE ${item}`, {
        id: `delete${name}Provider${suffix}`,
        summary: `Delete ${aProvider} provider of ${of}${kind.alsoRemoves ?? ""}`,
        params,
        answers: { 204: "The provider is deleted.", ...changeErrors },
        async perform(tenant, context, { params }) {
          await remove(tenant, context, params.provider_id);
          return true;
        },
      }),
    ];

    function changing<Body extends z.ZodType>(
      method: "PUT" | "PATCH",
      { body, description, perform }: Change<Body>,
      verb: string,
      summary: string,
    ): UntaggedRow {
      return tenantOperation(`${method} ${item}`, {
        id: `${verb}${name}Provider${suffix}`,
        summary: `${summary} ${aProvider} provider of ${of}`,
        ...(description ? { description } : {}),
        params,
        body,
        answers: { 200: { schema: object }, ...changeErrors },
        perform: (tenant, context, { params, body }) => perform(tenant, context, body, params.provider_id),
      });
    }
  });
}

const SAML_OFF = "`saml.enabled` is false, or `metadata_url` is set by the operator alone.";

const samlBody = samlProviderSettings.omit({ id: true });

const changedSaml = (
  tenantId: string,
  context: HandlerContext,
  id: string,
  change: (current: SamlProvider) => SamlProvider,
) => changeSamlProvider(context.runtime, tenantId, id, change, changingParty(context));

/** SAML providers of tenants. */
export const samlProviderAddresses = providerAddresses({
  path: "/saml/providers",
  name: "Saml",
  one: "a SAML",
  id: uuid(),
  // As stored: what was not given has the default of the configuration.
  object: z.looseObject({ id: z.guid(), name: z.string() }),
  errors: { 403: SAML_OFF, 404: NOT_FOUND },
  changeErrors: {
    400: INVALID,
    403: SAML_OFF,
    404: NOT_FOUND,
    409: "Another provider of the tenant has the mail domain, entity id or metadata address; or the tenant is the default one, which the configuration of the server defines.",
  },
  list: listSamlProviders,
  create: {
    body: samlBody,
    perform: (tenantId, context, body) =>
      createSamlProvider(context.runtime, tenantId, body, changingParty(context)),
  },
  replace: {
    body: samlBody,
    perform: (tenantId, context, body, id) => changedSaml(tenantId, context, id, () => body),
  },
  patch: {
    body: samlProviderPatch,
    description: "A JSON Merge Patch (RFC 7396): null removes a setting.",
    perform: (tenantId, context, body, id) =>
      changedSaml(tenantId, context, id, (current) => patchedSamlProvider(current, body)),
  },
  remove: (tenantId, context, id) =>
    deleteSamlProvider(context.runtime, tenantId, id, changingParty(context)),
});

const oauthObject = z
  .strictObject({
    id: z.string().describe("`google`, or `custom_` and the key of one of the tenant's own."),
    custom: z.boolean(),
    enabled: z.boolean(),
    settings: z.record(z.string(), z.unknown()).describe("Its settings, without secrets."),
    secrets: z.array(z.string()).describe("Names of the secrets that are set."),
  })
  .meta({ id: "OAuthProvider" });

/** OAuth and OpenID Connect providers of tenants. */
export const oauthProviderAddresses = providerAddresses({
  path: "/oauth/providers",
  name: "OAuth",
  one: "an OAuth",
  id: z.string(),
  object: oauthObject,
  errors: { 404: NOT_FOUND },
  changeErrors: {
    400: INVALID,
    403: "The addresses of a tenant's own providers are set by the operator alone.",
    404: NOT_FOUND,
    409: "It exists already, or the tenant is the default one.",
  },
  list: listOAuthProviders,
  create: {
    body: z.object({
      id: z.string().regex(/^custom_[a-z0-9][a-z0-9_-]{0,31}$/),
      settings: oauthProviderBody,
    }),
    description: "`id` is `custom_` and a key of lower case letters, digits, `_` and `-`.",
    perform: (tenantId, context, { id, settings }) =>
      changeOAuthProvider(
        context.runtime,
        tenantId,
        id,
        { patch: settings, create: true },
        changingParty(context),
      ),
  },
  patch: {
    body: oauthProviderPatch,
    description:
      "A JSON Merge Patch (RFC 7396): null removes a setting. Secrets are written and never shown.",
    perform: (tenantId, context, patch, id) =>
      changeOAuthProvider(context.runtime, tenantId, id, { patch }, changingParty(context)),
  },
  remove: (tenantId, context, id) =>
    deleteOAuthProvider(context.runtime, tenantId, id, changingParty(context)),
  alsoRemoves: ", or the settings of a built-in one",
});
