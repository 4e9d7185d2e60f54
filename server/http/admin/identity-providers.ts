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
import { json, plainError } from "../answer/reply.ts";
import { uuid } from "../table/fields.ts";
import type { HandlerContext } from "../table/handler-context.ts";
import { NOT_FOUND } from "./admin-operation.ts";
import { oauthProviderBody, oauthProviderPatch, samlProviderPatch } from "./settings-schema.ts";
import { changingParty, tenantOperation, tenantPlaces } from "./tenants.ts";

const samlBody = samlProviderSettings.omit({ id: true });
/** As stored: what was not given has the default of the configuration. */
const samlObject = z.looseObject({ id: z.guid(), name: z.string() });

const SAML_OFF = "`saml.enabled` is false, or `metadata_url` is set by the operator alone.";
const INVALID = "A setting of the provider is invalid; the message names it.";
const DUPLICATE =
  "Another provider of the tenant has the mail domain, entity id or metadata address; or the tenant is the default one, which the configuration of the server defines.";

const changed = { 400: INVALID, 403: SAML_OFF, 404: NOT_FOUND, 409: DUPLICATE };

/** SAML providers of tenants. */
export const samlProviderAddresses = tenantPlaces.flatMap(({ prefix, suffix, params, of }) => {
  const path = `${prefix}/saml/providers`;
  const one = z.object({ ...params, provider_id: uuid() });
  const changing = (
    id: string,
    change: (current: SamlProvider) => SamlProvider,
    context: HandlerContext,
    tenant: string,
  ) => changeSamlProvider(context.runtime, tenant, id, change, changingParty(context));
  return [
    tenantOperation(
      {
        method: "GET",
        path,
        id: `listSamlProviders${suffix}`,
        summary: `List the SAML providers of ${of}`,
        tag: "admin: tenants",
        params: z.object(params),
        answers: { 200: { schema: z.array(samlObject) }, 403: SAML_OFF, 404: NOT_FOUND },
      },
      async (tenant, context) => json(200, await listSamlProviders(context.runtime, tenant)),
    ),
    tenantOperation(
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
      async (tenant, context, { body }) =>
        json(201, await createSamlProvider(context.runtime, tenant, body, changingParty(context))),
    ),
    tenantOperation(
      {
        method: "GET",
        path: `${path}/{provider_id}`,
        id: `getSamlProvider${suffix}`,
        summary: `Get a SAML provider of ${of}`,
        tag: "admin: tenants",
        params: one,
        answers: { 200: { schema: samlObject }, 403: SAML_OFF, 404: NOT_FOUND },
      },
      async (tenant, context, { params }) => {
        const all = await listSamlProviders(context.runtime, tenant);
        const found = all.find(({ id }) => id === params.provider_id);
        return found ? json(200, found) : plainError(404, "Not found.");
      },
    ),
    tenantOperation(
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
      async (tenant, context, { params, body }) =>
        json(200, await changing(params.provider_id, () => body, context, tenant)),
    ),
    tenantOperation(
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
      async (tenant, context, { params, body }) => {
        const patched = (current: SamlProvider) => patchedSamlProvider(current, body);
        return json(200, await changing(params.provider_id, patched, context, tenant));
      },
    ),
    tenantOperation(
      {
        method: "DELETE",
        path: `${path}/{provider_id}`,
        id: `deleteSamlProvider${suffix}`,
        summary: `Delete a SAML provider of ${of}`,
        tag: "admin: tenants",
        params: one,
        answers: { 204: "The provider is deleted.", ...changed },
      },
      async (tenant, context, { params }) => {
        await deleteSamlProvider(context.runtime, tenant, params.provider_id, changingParty(context));
        return { status: 204 };
      },
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
export const oauthProviderAddresses = tenantPlaces.flatMap(({ prefix, suffix, params, of }) => {
  const path = `${prefix}/oauth/providers`;
  const one = z.object({ ...params, provider_id: z.string() });
  return [
    tenantOperation(
      {
        method: "GET",
        path,
        id: `listOAuthProviders${suffix}`,
        summary: `List the OAuth providers of ${of}`,
        tag: "admin: tenants",
        params: z.object(params),
        answers: { 200: { schema: z.array(oauthObject) }, 404: NOT_FOUND },
      },
      async (tenant, context) => json(200, await listOAuthProviders(context.runtime, tenant)),
    ),
    tenantOperation(
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
      async (tenant, context, { body: { id, settings } }) => {
        const change = { patch: settings, create: true };
        return json(
          201,
          await changeOAuthProvider(context.runtime, tenant, id, change, changingParty(context)),
        );
      },
    ),
    tenantOperation(
      {
        method: "GET",
        path: `${path}/{provider_id}`,
        id: `getOAuthProvider${suffix}`,
        summary: `Get an OAuth provider of ${of}`,
        tag: "admin: tenants",
        params: one,
        answers: { 200: { schema: oauthObject }, 404: NOT_FOUND },
      },
      async (tenant, context, { params }) => {
        const all = await listOAuthProviders(context.runtime, tenant);
        const found = all.find(({ id }) => id === params.provider_id);
        return found ? json(200, found) : plainError(404, "Not found.");
      },
    ),
    tenantOperation(
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
      async (tenant, context, { params, body }) => {
        const { provider_id } = params;
        const party = changingParty(context);
        return json(
          200,
          await changeOAuthProvider(context.runtime, tenant, provider_id, { patch: body }, party),
        );
      },
    ),
    tenantOperation(
      {
        method: "DELETE",
        path: `${path}/{provider_id}`,
        id: `deleteOAuthProvider${suffix}`,
        summary: `Delete an OAuth provider of ${of}, or the settings of a built-in one`,
        tag: "admin: tenants",
        params: one,
        answers: { 204: "The provider is deleted.", ...oauthChanged },
      },
      async (tenant, context, { params }) => {
        await deleteOAuthProvider(context.runtime, tenant, params.provider_id, changingParty(context));
        return { status: 204 };
      },
    ),
  ];
});
