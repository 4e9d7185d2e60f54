import { z } from "zod";
import { samlProviderSettings } from "../../config/sections/identity-providers.ts";
import { currentTime } from "../../database/current-time.ts";
import { mergePatch } from "../../identity/metadata.ts";
import { judgeSettings, TenantError } from "../../tenants/manage-tenants.ts";
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
import { checkSamlProvider } from "../../thirdparty/saml/check-saml-provider.ts";
import { uuid } from "../table/fields.ts";
import { NOT_FOUND } from "./admin-operation.ts";
import { conditionsOf, lockOutQuery } from "./change-conditions.ts";
import { conflict, INVALID, isOff, providerOperations } from "./identity-providers.ts";
import { samlProviderPatch } from "./settings-schema.ts";
import { changingParty, tenantOperation } from "./tenants.ts";

// As stored: what was not given has the default of the configuration.
const samlObject = z.looseObject({ id: z.guid(), name: z.string() });
const samlBody = samlProviderSettings.omit({ id: true });

const SAML_OFF = "`saml.enabled` is false, or `metadata_url` is set by the operator alone.";

const samlErrors = {
  400: INVALID,
  403: SAML_OFF,
  404: NOT_FOUND,
  409: conflict(
    "Another provider of the tenant has the mail domain, entity id or metadata address; or the tenant is the default one, which the configuration of the server defines.",
  ),
};

/** SAML providers of tenants. */
export const samlProviderAddresses = providerOperations({
  protocol: "saml",
  id: "SamlProvider",
  noun: { one: "a SAML provider", many: "SAML providers" },
  object: samlObject,
  errors: samlErrors,
  readErrors: { 403: SAML_OFF },
  patch: samlProviderPatch,
  patchDescription: "A JSON Merge Patch (RFC 7396): null removes a setting.",
  list: listSamlProviders,
  change(runtime, tenant, id, { patch, ...conditions }, by) {
    const change = (current: SamlProvider) => patchedSamlProvider(current, patch);
    return changeSamlProvider(runtime, tenant, id, { change, ...conditions }, by);
  },
  remove: deleteSamlProvider,
  check: {
    body: z.object({
      provider_id: uuid().optional().describe("Absent for a new provider."),
      settings: samlProviderPatch.default({}).describe("What would be changed of it."),
    }),
    errors: { 403: SAML_OFF, 409: samlErrors[409] },
    async findings(tenantId, context, body) {
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
    },
  },
  create: ({ prefix, suffix, of }) =>
    tenantOperation(`POST ${prefix}/saml/providers`, {
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
  replace: ({ prefix, suffix, of }) =>
    tenantOperation(`PUT ${prefix}/saml/providers/{provider_id}`, {
      id: `replaceSamlProvider${suffix}`,
      summary: `Replace the settings of a SAML provider of ${of}`,
      body: samlBody,
      answers: { 200: { schema: samlObject }, ...samlErrors },
      query: lockOutQuery,
      async perform(tenant, context, { params, query, body }) {
        const change = { change: () => body, ...(await conditionsOf(context, tenant, query)) };
        const by = changingParty(context);
        return changeSamlProvider(context.runtime, tenant, params.provider_id, change, by);
      },
    }),
});
