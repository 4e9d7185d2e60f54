import { z } from "zod";
import { configSchema } from "../../config/schema.ts";
import { samlProviderSettings } from "../../config/sections/identity-providers.ts";
import { isServerSetting } from "../../tenants/tenant-config.ts";
import { documentedAs } from "../table/fields.ts";

/**
 * Settings as the document of the interface shows them. The bodies that carry them are read as any object, because a patch
 * is valid only together with what it changes; the configuration then rejects what does not fit, by name.
 */

/**
 * Makes the schema of a JSON Merge Patch (RFC 7396) of a tree of settings: nothing is required, and null removes.
 *
 * @param path of the tree in the configuration, whose settings of the server are left out
 */
function patchOf(schema: z.core.$ZodType, path: readonly string[]): z.ZodType {
  if (
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable
  )
    return patchOf(schema.unwrap(), path);
  // Any JSON: its own schema would refer to itself.
  if (schema instanceof z.ZodLazy) return z.unknown();
  if (schema instanceof z.ZodRecord)
    return z.partialRecord(schema.keyType, patchOf(schema.valueType, path).nullable());
  if (!(schema instanceof z.ZodObject)) return schema as z.ZodType;
  const members = Object.entries(schema.shape)
    .map(([name, member]) => [name, member as z.core.$ZodType, [...path, name]] as const)
    .filter(([, , at]) => !isServerSetting(at))
    .map(([name, member, at]) => {
      const { description } = member as z.ZodType;
      const patch = patchOf(member, at).nullish();
      return [name, description ? patch.describe(description) : patch] as const;
    });
  return z.strictObject(Object.fromEntries(members));
}

const anyObject = z.record(z.string(), z.unknown());

/** Settings of a tenant, by the names of the configuration. */
export const settingsBody = documentedAs(
  anyObject,
  z
    .lazy(() => patchOf(configSchema, []))
    .meta({
      id: "TenantSettings",
      description:
        'Settings by the names of the configuration, for instance `{"mfa": {"optional": false}}`; null removes one.',
    }),
);

/** A patch of a SAML provider. */
export const samlProviderPatch = documentedAs(
  anyObject,
  z
    .lazy(() => patchOf(samlProviderSettings.omit({ id: true }), ["saml", "identity_providers"]))
    .meta({ id: "SamlProviderPatch" }),
);

const { shape: thirdParty } = configSchema.shape.third_party.unwrap();
const builtIn = Object.values(thirdParty.providers.unwrap().shape);

/** A patch of an OpenID Connect or OAuth 2 provider: the members of each kind. */
export const oauthProviderPatch = documentedAs(
  anyObject,
  z
    .lazy(() => {
      const shapes = builtIn.map((provider) => provider.unwrap().shape);
      const custom = thirdParty.custom_providers.unwrap().valueType as z.ZodObject;
      return patchOf(z.object(Object.assign({}, ...shapes, custom.shape)), ["third_party", "providers"]);
    })
    .meta({ id: "OAuthProviderPatch" }),
);

/** The settings of a new provider of a tenant's own. */
export const oauthProviderBody = documentedAs(
  anyObject,
  z
    .lazy(() => {
      const custom = thirdParty.custom_providers.unwrap().valueType as z.ZodObject;
      const { display_name, client_id } = custom.shape;
      return (patchOf(custom, ["third_party", "custom_providers"]) as z.ZodObject).extend({
        display_name,
        client_id,
      });
    })
    .meta({ id: "OAuthProviderSettings" }),
);

const openidClient = () => configSchema.shape.openid.unwrap().shape.clients.unwrap().valueType as z.ZodObject;

/** The settings of a new client of the OpenID provider. */
export const openidClientSettings = documentedAs(
  anyObject,
  z
    .lazy(() =>
      (patchOf(openidClient(), ["openid", "clients"]) as z.ZodObject).extend({
        name: openidClient().shape.name,
      }),
    )
    .meta({ id: "OpenidClientSettings" }),
);

/** A patch of a client. */
export const openidClientPatch = documentedAs(
  anyObject,
  z.lazy(() => patchOf(openidClient(), ["openid", "clients"])).meta({ id: "OpenidClientPatch" }),
);
