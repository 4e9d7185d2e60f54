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
import { INVALID_INPUT } from "../table/operation.ts";
import { NOT_FOUND } from "./admin-operation.ts";
import { conditionsOf, lockOutQuery, tenantConflict } from "./change-conditions.ts";
import { oauthProviderBody, oauthProviderPatch, samlProviderPatch } from "./settings-schema.ts";
import { changingParty, tenantOperation, tenantPlaces } from "./tenants.ts";

const INVALID = "A setting of the provider is invalid; the message names it.";

/** The addresses of the providers of one protocol, at both places of tenants, as `tenantPlaces` has them. */
const providerPlaces = <Path extends string>(path: Path) =>
  tenantPlaces.map(({ prefix, ...place }) => ({
    ...place,
    all: `${prefix}${path}` as const,
    one: `${prefix}${path}/{provider_id}` as const,
  }));

/** What a list answers. The 400 is published for the tenant of the key too, whose path has no parameter. */
const listed = (schema: z.ZodType) => ({ 200: { schema: z.array(schema) }, 400: INVALID_INPUT });

// As stored: what was not given has the default of the configuration.
const samlObject = z.looseObject({ id: z.guid(), name: z.string() });
const samlBody = samlProviderSettings.omit({ id: true });

const SAML_OFF = "`saml.enabled` is false, or `metadata_url` is set by the operator alone.";

const conflict = (description: string) => ({
  schema: tenantConflict,
  description: `${description} Or users would be locked out (\`unless_locked_out\`).`,
});

const samlErrors = {
  400: INVALID,
  403: SAML_OFF,
  404: NOT_FOUND,
  409: conflict(
    "Another provider of the tenant has the mail domain, entity id or metadata address; or the tenant is the default one, which the configuration of the server defines.",
  ),
};
const changedSamlProvider = { 200: { schema: samlObject }, ...samlErrors };

/** SAML providers of tenants. */
export const samlProviderAddresses = providerPlaces("/saml/providers").flatMap(({ all, one, suffix, of }) => [
  tenantOperation(`GET ${all}`, {
    id: `listSamlProviders${suffix}`,
    summary: `List the SAML providers of ${of}`,
    answers: { ...listed(samlObject), 403: SAML_OFF, 404: NOT_FOUND },
    perform: (tenant, { runtime }) => listSamlProviders(runtime, tenant),
  }),
  tenantOperation(`POST ${all}`, {
    id: `createSamlProvider${suffix}`,
    summary: `Add a SAML provider to ${of}`,
    body: samlBody,
    answers: { 201: { schema: samlObject }, ...samlErrors },
    perform: (tenant, context, { body }) =>
      createSamlProvider(context.runtime, tenant, body, changingParty(context)),
  }),
  tenantOperation(`GET ${one}`, {
    id: `getSamlProvider${suffix}`,
    summary: `Get a SAML provider of ${of}`,
    answers: { 200: { schema: samlObject }, 403: SAML_OFF },
    perform: async (tenant, { runtime }, { params }) =>
      (await listSamlProviders(runtime, tenant)).find(({ id }) => id === params.provider_id),
  }),
  tenantOperation(`PUT ${one}`, {
    id: `replaceSamlProvider${suffix}`,
    summary: `Replace the settings of a SAML provider of ${of}`,
    body: samlBody,
    answers: changedSamlProvider,
    query: lockOutQuery,
    async perform(tenant, context, { params, query, body }) {
      const change = { change: () => body, ...(await conditionsOf(context, tenant, query)) };
      return changeSamlProvider(context.runtime, tenant, params.provider_id, change, changingParty(context));
    },
  }),
  tenantOperation(`PATCH ${one}`, {
    id: `changeSamlProvider${suffix}`,
    summary: `Change settings of a SAML provider of ${of}`,
    description: "A JSON Merge Patch (RFC 7396): null removes a setting.",
    body: samlProviderPatch,
    answers: changedSamlProvider,
    query: lockOutQuery,
    async perform(tenant, context, { params, query, body }) {
      const change = {
        change: (current: SamlProvider) => patchedSamlProvider(current, body),
        ...(await conditionsOf(context, tenant, query)),
      };
      return changeSamlProvider(context.runtime, tenant, params.provider_id, change, changingParty(context));
    },
  }),
  tenantOperation(`DELETE ${one}`, {
    id: `deleteSamlProvider${suffix}`,
    summary: `Delete a SAML provider of ${of}`,
    answers: { 204: "The provider is deleted.", ...samlErrors },
    query: lockOutQuery,
    async perform(tenant, context, { params, query }) {
      const conditions = await conditionsOf(context, tenant, query);
      await deleteSamlProvider(
        context.runtime,
        tenant,
        params.provider_id,
        conditions,
        changingParty(context),
      );
      return true;
    },
  }),
]);

const oauthObject = z
  .strictObject({
    id: z.string().describe("`google`, or `custom_` and the key of one of the tenant's own."),
    custom: z.boolean(),
    enabled: z.boolean(),
    settings: z.record(z.string(), z.unknown()).describe("Its settings, without secrets."),
    secrets: z.array(z.string()).describe("Names of the secrets that are set."),
  })
  .meta({ id: "OAuthProvider" });

const oauthErrors = {
  400: INVALID,
  403: "The addresses of a tenant's own providers are set by the operator alone.",
  404: NOT_FOUND,
  409: conflict("It exists already, or the tenant is the default one."),
};
const params = { provider_id: z.string() };

/** OAuth and OpenID Connect providers of tenants. */
export const oauthProviderAddresses = providerPlaces("/oauth/providers").flatMap(
  ({ all, one, suffix, of }) => [
    tenantOperation(`GET ${all}`, {
      id: `listOAuthProviders${suffix}`,
      summary: `List the OAuth providers of ${of}`,
      answers: { ...listed(oauthObject), 404: NOT_FOUND },
      perform: (tenant, { runtime }) => listOAuthProviders(runtime, tenant),
    }),
    tenantOperation(`POST ${all}`, {
      id: `createOAuthProvider${suffix}`,
      summary: `Add an OAuth provider to ${of}`,
      description: "`id` is `custom_` and a key of lower case letters, digits, `_` and `-`.",
      body: z.object({
        id: z.string().regex(/^custom_[a-z0-9][a-z0-9_-]{0,31}$/),
        settings: oauthProviderBody,
      }),
      answers: { 201: { schema: oauthObject }, ...oauthErrors },
      perform(tenant, context, { body: { id, settings } }) {
        const change = { patch: settings, create: true };
        return changeOAuthProvider(context.runtime, tenant, id, change, changingParty(context));
      },
    }),
    tenantOperation(`GET ${one}`, {
      id: `getOAuthProvider${suffix}`,
      summary: `Get an OAuth provider of ${of}`,
      params,
      answers: { 200: { schema: oauthObject } },
      perform: async (tenant, { runtime }, { params }) =>
        (await listOAuthProviders(runtime, tenant)).find(({ id }) => id === params.provider_id),
    }),
    tenantOperation(`PATCH ${one}`, {
      id: `changeOAuthProvider${suffix}`,
      summary: `Change settings of an OAuth provider of ${of}`,
      description:
        "A JSON Merge Patch (RFC 7396): null removes a setting. Secrets are written and never shown.",
      params,
      body: oauthProviderPatch,
      answers: { 200: { schema: oauthObject }, ...oauthErrors },
      query: lockOutQuery,
      async perform(tenant, context, { params, query, body: patch }) {
        const change = { patch, ...(await conditionsOf(context, tenant, query)) };
        return changeOAuthProvider(
          context.runtime,
          tenant,
          params.provider_id,
          change,
          changingParty(context),
        );
      },
    }),
    tenantOperation(`DELETE ${one}`, {
      id: `deleteOAuthProvider${suffix}`,
      summary: `Delete an OAuth provider of ${of}, or the settings of a built-in one`,
      params,
      answers: { 204: "The provider is deleted.", ...oauthErrors },
      query: lockOutQuery,
      async perform(tenant, context, { params, query }) {
        const conditions = await conditionsOf(context, tenant, query);
        await deleteOAuthProvider(
          context.runtime,
          tenant,
          params.provider_id,
          conditions,
          changingParty(context),
        );
        return true;
      },
    }),
  ],
);
