import { z } from "zod";
import {
  changeOpenidClient,
  deleteOpenidClient,
  listOpenidClients,
  openidClientId,
  renewOpenidSecret,
} from "../../tenants/openid-clients.ts";
import { INVALID_INPUT } from "../table/operation.ts";
import { NOT_FOUND } from "./admin-operation.ts";
import { openidClientPatch, openidClientSettings } from "./settings-schema.ts";
import { changingParty, tenantOperation, tenantPlaces } from "./tenants.ts";

const clientObject = z
  .strictObject({
    id: z.string(),
    settings: z.record(z.string(), z.unknown()).describe("Its settings, without the secret."),
    secrets: z.array(z.string()).describe("`secret`, if one is set."),
  })
  .meta({ id: "OpenidClient" });

const errors = {
  400: "A setting of the client is invalid; the message names it.",
  404: NOT_FOUND,
  409: "It exists already, or the tenant is the default one, which the configuration of the server defines.",
};

const params = { client_id: z.string() };

/** Clients of tenants' OpenID providers. */
export const openidClientAddresses = tenantPlaces.flatMap(({ prefix, suffix, of }) => {
  const all = `${prefix}/openid/clients` as const;
  const one = `${prefix}/openid/clients/{client_id}` as const;
  return [
    tenantOperation(`GET ${all}`, {
      id: `listOpenidClients${suffix}`,
      summary: `List the clients of the OpenID provider of ${of}`,
      answers: { 200: { schema: z.array(clientObject) }, 400: INVALID_INPUT, 404: NOT_FOUND },
      perform: (tenant, { runtime }) => listOpenidClients(runtime, tenant),
    }),
    tenantOperation(`POST ${all}`, {
      id: `createOpenidClient${suffix}`,
      summary: `Add a client to the OpenID provider of ${of}`,
      description:
        "A client without `secret` and `jwks` is a public one. `POST …/secret` makes a secret for it.",
      body: z.object({
        id: z.string().regex(openidClientId),
        settings: openidClientSettings,
      }),
      answers: { 201: { schema: clientObject }, ...errors },
      perform(tenant, context, { body: { id, settings } }) {
        const change = { patch: settings, create: true };
        return changeOpenidClient(context.runtime, tenant, id, change, changingParty(context));
      },
    }),
    tenantOperation(`GET ${one}`, {
      id: `getOpenidClient${suffix}`,
      summary: `Get a client of the OpenID provider of ${of}`,
      params,
      answers: { 200: { schema: clientObject } },
      perform: async (tenant, { runtime }, { params }) =>
        (await listOpenidClients(runtime, tenant)).find(({ id }) => id === params.client_id),
    }),
    tenantOperation(`PATCH ${one}`, {
      id: `changeOpenidClient${suffix}`,
      summary: `Change settings of a client of the OpenID provider of ${of}`,
      description:
        "A JSON Merge Patch (RFC 7396): null removes a setting. The secret is written and never shown.",
      params,
      body: openidClientPatch,
      answers: { 200: { schema: clientObject }, ...errors },
      perform: (tenant, context, { params, body: patch }) =>
        changeOpenidClient(context.runtime, tenant, params.client_id, { patch }, changingParty(context)),
    }),
    tenantOperation(`POST ${one}/secret`, {
      id: `renewOpenidClientSecret${suffix}`,
      summary: `Make a new secret for a client of the OpenID provider of ${of}`,
      description: "The former one authenticates the client no more.",
      params,
      answers: {
        201: { schema: z.strictObject({ secret: z.string().describe("In this answer alone.") }) },
        ...errors,
      },
      perform: (tenant, context, { params }) =>
        renewOpenidSecret(context.runtime, tenant, params.client_id, changingParty(context)),
    }),
    tenantOperation(`DELETE ${one}`, {
      id: `deleteOpenidClient${suffix}`,
      summary: `Delete a client of the OpenID provider of ${of}`,
      description: "Its tokens are of no use any more.",
      params,
      answers: { 204: "The client is deleted.", ...errors },
      async perform(tenant, context, { params }) {
        await deleteOpenidClient(context.runtime, tenant, params.client_id, changingParty(context));
        return true;
      },
    }),
  ];
});
