import { z } from "zod";
import { currentTime } from "../../database/current-time.ts";
import { judgeSettings, TenantError } from "../../tenants/manage-tenants.ts";
import {
  changeOAuthProvider,
  deleteOAuthProvider,
  listOAuthProviders,
  withOAuthProvider,
} from "../../tenants/oauth-providers.ts";
import { checkOAuthProvider } from "../../thirdparty/check-oauth-provider.ts";
import { findProvider } from "../../thirdparty/providers/index.ts";
import { NOT_FOUND } from "./admin-operation.ts";
import { conflict, INVALID, isOff, providerOperations } from "./identity-providers.ts";
import { oauthProviderBody, oauthProviderPatch } from "./settings-schema.ts";
import { changingParty, tenantOperation } from "./tenants.ts";

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

/** OAuth and OpenID Connect providers of tenants. */
export const oauthProviderAddresses = providerOperations({
  protocol: "oauth",
  id: "OAuthProvider",
  noun: { one: "an OAuth provider", many: "OAuth providers" },
  object: oauthObject,
  params: { provider_id: z.string() },
  errors: oauthErrors,
  patch: oauthProviderPatch,
  patchDescription:
    "A JSON Merge Patch (RFC 7396): null removes a setting. Secrets are written and never shown.",
  alsoDeleted: ", or the settings of a built-in one",
  list: listOAuthProviders,
  change: changeOAuthProvider,
  remove: deleteOAuthProvider,
  check: {
    body: z.object({
      provider_id: z.string().max(39).describe("`google`, or `custom_` and a key, of a new provider too."),
      settings: oauthProviderPatch.default({}).describe("What would be changed of it."),
    }),
    errors: { 403: oauthErrors[403] },
    async findings(tenantId, context, { provider_id: id, settings }) {
      const { runtime } = context;
      const known = (await listOAuthProviders(runtime, tenantId)).find((one) => one.id === id);
      const { changed: config } = await judgeSettings(
        runtime,
        tenantId,
        (current) => withOAuthProvider(current, id, settings),
        changingParty(context),
      );
      const provider = findProvider(config, id);
      if (!provider) throw new TenantError("there is no such provider", "not_found");
      const now = await currentTime(runtime);
      const found = await checkOAuthProvider({ runtime, tenant: { id: tenantId, config } }, provider, now);
      const { enabled = known?.enabled ?? true } = settings;
      return enabled ? found : [isOff, ...found];
    },
  },
  create: ({ prefix, suffix, of }) =>
    tenantOperation(`POST ${prefix}/oauth/providers`, {
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
});
