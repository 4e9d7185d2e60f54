import { z } from "zod";
import { ConfigError } from "../../config/errors.ts";
import { samlProviderSettings } from "../../config/sections/identity-providers.ts";
import { currentTime } from "../../database/current-time.ts";
import { mergePatch } from "../../identity/metadata.ts";
import { judgeSettings, TenantError } from "../../tenants/manage-tenants.ts";
import {
  changeOAuthProvider,
  deleteOAuthProvider,
  listOAuthProviders,
  withOAuthProvider,
} from "../../tenants/oauth-providers.ts";
import {
  changeSamlProvider,
  createSamlProvider,
  deleteSamlProvider,
  listSamlProviders,
  patchedSamlProvider,
  type SamlProvider,
  samlProvidersIn,
  withSamlProvider,
} from "../../tenants/saml-providers.ts";
import { checkOAuthProvider } from "../../thirdparty/check-oauth-provider.ts";
import { checkNames, type Finding } from "../../thirdparty/findings.ts";
import { findProvider } from "../../thirdparty/providers/index.ts";
import { checkSamlProvider } from "../../thirdparty/saml/check-saml-provider.ts";
import { uuid } from "../table/fields.ts";
import { INVALID_INPUT } from "../table/operation.ts";
import { NOT_FOUND } from "./admin-operation.ts";
import { conditionsOf, lockOutQuery, tenantConflict } from "./change-conditions.ts";
import { oauthProviderBody, oauthProviderPatch, samlProviderPatch } from "./settings-schema.ts";
import { changingParty, tenantOperation, tenantPlaces } from "./tenants.ts";

type Replaced<Path extends string> = Path extends `${infer Protocol}/providers`
  ? `${Protocol}/provider_check`
  : never;

const INVALID = "A setting of the provider is invalid; the message names it.";

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

const isOff: Finding = {
  check: "enabled",
  outcome: "warning",
  message: "The provider is not enabled: users are not offered it.",
};

/** The addresses of the providers of one protocol, at both places of tenants, as `tenantPlaces` has them. */
const providerPlaces = <Path extends `/${string}/providers`>(path: Path) =>
  tenantPlaces.map(({ prefix, ...place }) => ({
    ...place,
    all: `${prefix}${path}` as const,
    one: `${prefix}${path}/{provider_id}` as const,
    check: `${prefix}${path.replace("providers", "provider_check") as Replaced<Path>}` as const,
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
export const samlProviderAddresses = providerPlaces("/saml/providers").flatMap(
  ({ all, one, check, suffix, of }) => [
    tenantOperation(`POST ${check}`, {
      id: `checkSamlProvider${suffix}`,
      changesNothing: true,
      // It makes this server send requests.
      role: "administrator",
      roleAtDefaultTenant: "operator",
      summary: `Check what the settings of a SAML provider of ${of} lead to`,
      description: CHECK,
      body: z.object({
        provider_id: uuid().optional().describe("Absent for a new provider."),
        settings: samlProviderPatch.default({}).describe("What would be changed of it."),
      }),
      answers: { ...checked, 403: SAML_OFF, 409: samlErrors[409] },
      perform: (tenantId, context, { body }) =>
        findingsOf(async () => {
          const { runtime } = context;
          let id = body.provider_id ?? null;
          let enabled = true;
          const { changed: config } = await judgeSettings(
            runtime,
            tenantId,
            (current) => {
              const found = samlProvidersIn(current).find((one) => one.id === id);
              enabled = (mergePatch(found ?? {}, body.settings) as SamlProvider).enabled !== false;
              const tried = withSamlProvider(current, id, body.settings);
              ({ id } = tried);
              return tried.settings;
            },
            changingParty(context),
          );
          const settings = config.saml.identity_providers.find((one) => one.id === id);
          if (!settings) throw new TenantError("there is no such provider", "not_found");
          const now = await currentTime(runtime);
          const found = await checkSamlProvider({ runtime, tenant: { id: tenantId, config } }, settings, now);
          return enabled ? found : [isOff, ...found];
        }),
    }),
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
      description: "Addresses in its mail domains lead to it, and no longer to other ways to sign in.",
      answers: { 201: { schema: samlObject }, ...samlErrors },
      query: lockOutQuery,
      async perform(tenant, context, { query, body }) {
        const conditions = await conditionsOf(context, tenant, query);
        return createSamlProvider(context.runtime, tenant, body, conditions, changingParty(context));
      },
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
        return changeSamlProvider(
          context.runtime,
          tenant,
          params.provider_id,
          change,
          changingParty(context),
        );
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
        return changeSamlProvider(
          context.runtime,
          tenant,
          params.provider_id,
          change,
          changingParty(context),
        );
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
  ],
);

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
  ({ all, one, check, suffix, of }) => [
    tenantOperation(`POST ${check}`, {
      id: `checkOAuthProvider${suffix}`,
      changesNothing: true,
      // It makes this server send requests.
      role: "administrator",
      roleAtDefaultTenant: "operator",
      summary: `Check what the settings of an OAuth provider of ${of} lead to`,
      description: CHECK,
      body: z.object({
        provider_id: z.string().max(39).describe("`google`, or `custom_` and a key, of a new provider too."),
        settings: oauthProviderPatch.default({}).describe("What would be changed of it."),
      }),
      answers: { ...checked, 403: oauthErrors[403] },
      perform: (tenantId, context, { body }) =>
        findingsOf(async () => {
          const { runtime } = context;
          const id = body.provider_id;
          const known = (await listOAuthProviders(runtime, tenantId)).find((one) => one.id === id);
          const { changed: config } = await judgeSettings(
            runtime,
            tenantId,
            (current) => withOAuthProvider(current, id, body.settings),
            changingParty(context),
          );
          const provider = findProvider(config, id);
          if (!provider) throw new TenantError("there is no such provider", "not_found");
          const now = await currentTime(runtime);
          const found = await checkOAuthProvider(
            { runtime, tenant: { id: tenantId, config } },
            provider,
            now,
          );
          const { enabled = known?.enabled ?? true } = body.settings;
          return enabled ? found : [isOff, ...found];
        }),
    }),
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
