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
import { json, plainError, type Reply } from "../answer/reply.ts";
import { uuid } from "../table/fields.ts";
import type { HandlerContext } from "../table/handler-context.ts";
import { adminOperation, NOT_FOUND } from "./admin-operation.ts";
import { oauthProviderBody, oauthProviderPatch, samlProviderPatch } from "./settings-schema.ts";
import { answerTenantChange, changingParty, managedTenant } from "./tenants.ts";

/** Both places of the addresses: below a tenant that the path names, and for the tenant of the key. */
const places = [
  { prefix: "/admin/tenants/{id}", suffix: "OfTenant", params: { id: uuid() }, of: "a tenant" },
  { prefix: "/admin", suffix: "", params: {}, of: "the tenant of the key" },
] as const;

/** Runs a call on the tenant that its path names. */
function onTenant(
  context: HandlerContext,
  params: { id?: unknown },
  call: (tenantId: string) => Promise<Reply>,
): Promise<Reply> {
  return answerTenantChange(async () => {
    const tenantId = managedTenant(context, params.id as string | undefined);
    return tenantId ? call(tenantId) : plainError(404, "Not found.");
  });
}

const samlBody = samlProviderSettings.omit({ id: true });
/** As stored: what was not given has the default of the configuration. */
const samlObject = z.looseObject({ id: z.guid(), name: z.string() });

const SAML_OFF = "`saml.enabled` is false, or `metadata_url` is set by the operator alone.";
const INVALID = "A setting of the provider is invalid; the message names it.";
const DUPLICATE =
  "Another provider of the tenant has the mail domain, entity id or metadata address; or the tenant is the default one, which the configuration of the server defines.";

const changed = { 400: INVALID, 403: SAML_OFF, 404: NOT_FOUND, 409: DUPLICATE };
/** SAML providers of tenants. */
export const samlProviderAddresses = places.flatMap(({ prefix, suffix, params, of }) => {
  const path = `${prefix}/saml/providers`;
  const one = z.object({ ...params, provider_id: uuid() });
  const changing = (
    id: string,
    change: (current: SamlProvider) => SamlProvider,
    context: HandlerContext,
    tenant: string,
  ) => changeSamlProvider(context.runtime, tenant, id, change, changingParty(context));
  return [
    adminOperation(
      {
        method: "GET",
        path,
        id: `listSamlProviders${suffix}`,
        summary: `List the SAML providers of ${of}`,
        tag: "admin: tenants",
        params: z.object(params),
        answers: { 200: { schema: z.array(samlObject) }, 403: SAML_OFF, 404: NOT_FOUND },
      },
      (context, { params }) =>
        onTenant(context, params, async (tenant) =>
          json(200, await listSamlProviders(context.runtime, tenant)),
        ),
    ),
    adminOperation(
      {
        method: "POST",
        path,
        id: `createSamlProvider${suffix}`,
        summary: `Add a SAML provider to ${of}`,
        tag: "admin: tenants",
        params: z.object(params),
        body: samlBody,
        answers: { 201: { schema: samlObject }, ...changed },
      },
      (context, { params, body }) =>
        onTenant(context, params, async (tenant) =>
          json(201, await createSamlProvider(context.runtime, tenant, body, changingParty(context))),
        ),
    ),
    adminOperation(
      {
        method: "GET",
        path: `${path}/{provider_id}`,
        id: `getSamlProvider${suffix}`,
        summary: `Get a SAML provider of ${of}`,
        tag: "admin: tenants",
        params: one,
        answers: { 200: { schema: samlObject }, 403: SAML_OFF, 404: NOT_FOUND },
      },
      (context, { params }) =>
        onTenant(context, params, async (tenant) => {
          const all = await listSamlProviders(context.runtime, tenant);
          const found = all.find(({ id }) => id === params.provider_id);
          return found ? json(200, found) : plainError(404, "Not found.");
        }),
    ),
    adminOperation(
      {
        method: "PUT",
        path: `${path}/{provider_id}`,
        id: `replaceSamlProvider${suffix}`,
        summary: `Replace the settings of a SAML provider of ${of}`,
        tag: "admin: tenants",
        params: one,
        body: samlBody,
        answers: { 200: { schema: samlObject }, ...changed },
      },
      (context, { params, body }) =>
        onTenant(context, params, async (tenant) =>
          json(200, await changing(params.provider_id, () => body, context, tenant)),
        ),
    ),
    adminOperation(
      {
        method: "PATCH",
        path: `${path}/{provider_id}`,
        id: `changeSamlProvider${suffix}`,
        summary: `Change settings of a SAML provider of ${of}`,
        description: "A JSON Merge Patch (RFC 7396): null removes a setting.",
        tag: "admin: tenants",
        params: one,
        body: samlProviderPatch,
        answers: { 200: { schema: samlObject }, ...changed },
      },
      (context, { params, body }) =>
        onTenant(context, params, async (tenant) => {
          const patched = (current: SamlProvider) => patchedSamlProvider(current, body);
          return json(200, await changing(params.provider_id, patched, context, tenant));
        }),
    ),
    adminOperation(
      {
        method: "DELETE",
        path: `${path}/{provider_id}`,
        id: `deleteSamlProvider${suffix}`,
        summary: `Delete a SAML provider of ${of}`,
        tag: "admin: tenants",
        params: one,
        answers: { 204: "The provider is deleted.", ...changed },
      },
      (context, { params }) =>
        onTenant(context, params, async (tenant) => {
          await deleteSamlProvider(context.runtime, tenant, params.provider_id, changingParty(context));
          return { status: 204 };
        }),
    ),
  ];
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

const OPERATOR = "The addresses of a tenant's own providers are set by the operator alone.";
const oauthChanged = {
  400: INVALID,
  403: OPERATOR,
  404: NOT_FOUND,
  409: "It exists already, or the tenant is the default one.",
};

/** OAuth and OpenID Connect providers of tenants. */
export const oauthProviderAddresses = places.flatMap(({ prefix, suffix, params, of }) => {
  const path = `${prefix}/oauth/providers`;
  const one = z.object({ ...params, provider_id: z.string() });
  return [
    adminOperation(
      {
        method: "GET",
        path,
        id: `listOAuthProviders${suffix}`,
        summary: `List the OAuth providers of ${of}`,
        tag: "admin: tenants",
        params: z.object(params),
        answers: { 200: { schema: z.array(oauthObject) }, 404: NOT_FOUND },
      },
      (context, { params }) =>
        onTenant(context, params, async (tenant) =>
          json(200, await listOAuthProviders(context.runtime, tenant)),
        ),
    ),
    adminOperation(
      {
        method: "POST",
        path,
        id: `createOAuthProvider${suffix}`,
        summary: `Add an OAuth provider to ${of}`,
        description: "`id` is `custom_` and a key of lower case letters, digits, `_` and `-`.",
        tag: "admin: tenants",
        params: z.object(params),
        body: z.object({
          id: z.string().regex(/^custom_[a-z0-9][a-z0-9_-]{0,31}$/),
          settings: oauthProviderBody,
        }),
        answers: { 201: { schema: oauthObject }, ...oauthChanged },
      },
      (context, { params, body: { id, settings } }) =>
        onTenant(context, params, async (tenant) => {
          const change = { patch: settings, create: true };
          return json(
            201,
            await changeOAuthProvider(context.runtime, tenant, id, change, changingParty(context)),
          );
        }),
    ),
    adminOperation(
      {
        method: "GET",
        path: `${path}/{provider_id}`,
        id: `getOAuthProvider${suffix}`,
        summary: `Get an OAuth provider of ${of}`,
        tag: "admin: tenants",
        params: one,
        answers: { 200: { schema: oauthObject }, 404: NOT_FOUND },
      },
      (context, { params }) =>
        onTenant(context, params, async (tenant) => {
          const all = await listOAuthProviders(context.runtime, tenant);
          const found = all.find(({ id }) => id === params.provider_id);
          return found ? json(200, found) : plainError(404, "Not found.");
        }),
    ),
    adminOperation(
      {
        method: "PATCH",
        path: `${path}/{provider_id}`,
        id: `changeOAuthProvider${suffix}`,
        summary: `Change settings of an OAuth provider of ${of}`,
        description:
          "A JSON Merge Patch (RFC 7396): null removes a setting. Secrets are written and never shown.",
        tag: "admin: tenants",
        params: one,
        body: oauthProviderPatch,
        answers: { 200: { schema: oauthObject }, ...oauthChanged },
      },
      (context, { params, body }) =>
        onTenant(context, params, async (tenant) => {
          const { provider_id } = params;
          const party = changingParty(context);
          return json(
            200,
            await changeOAuthProvider(context.runtime, tenant, provider_id, { patch: body }, party),
          );
        }),
    ),
    adminOperation(
      {
        method: "DELETE",
        path: `${path}/{provider_id}`,
        id: `deleteOAuthProvider${suffix}`,
        summary: `Delete an OAuth provider of ${of}, or the settings of a built-in one`,
        tag: "admin: tenants",
        params: one,
        answers: { 204: "The provider is deleted.", ...oauthChanged },
      },
      (context, { params }) =>
        onTenant(context, params, async (tenant) => {
          await deleteOAuthProvider(context.runtime, tenant, params.provider_id, changingParty(context));
          return { status: 204 };
        }),
    ),
  ];
});
