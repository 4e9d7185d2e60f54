import { z } from "zod";
import {
  type Access,
  describedApplication,
  endUserApplication,
  listApplicationAccesses,
  listUserApplications,
} from "../../admin/application-accesses.ts";
import { notFound } from "../../admin/rejections.ts";
import { heavyRead } from "../../database/heavy-reads.ts";
import { listUnlistedClients } from "../../openid/unlisted-list.ts";
import { requestContextOf } from "../table/handler-context.ts";
import { changeOperation, listOperation } from "./admin-operation.ts";
import { managedTenant, tenantPlaces } from "./tenants.ts";

const time = z.iso.datetime({ precision: 3 });
const count = z.int().min(0);

/** An id of a client, listed or not: that of a document is its address. */
const clientId = () => z.string().regex(/^[\x21-\x7e]{1,512}$/);

const access = {
  consent: z
    .strictObject({
      scopes: z.array(z.string()),
      claims: z.array(z.string()).describe("Claims that were asked for by name (OpenID Connect Core, 5.5)."),
      resources: z.record(z.string(), z.array(z.string())).describe("Scopes of APIs by resource indicator."),
      expires_at: time.nullable().describe("When the application has to ask again; null: never."),
    })
    .nullable()
    .describe("What the user has allowed; null for the operator's own clients, which need no consent."),
  since: time.describe("When the user has allowed it, or signed in to it first."),
  access_tokens: count.describe("Access tokens that are accepted."),
  refresh_tokens: count.describe("Refresh tokens that are accepted."),
};

const origins = z.enum(["listed", "document", "registration"]);

const userApplication = z
  .strictObject({
    id: z.string().describe("The client id."),
    name: z.string().nullable(),
    origin: origins.nullable().describe("Null if nothing is known of the application any more."),
    ...access,
  })
  .meta({ id: "UserApplication" });

const clientGrant = z
  .strictObject({ user_id: z.guid(), email: z.string().nullable().describe("The primary one."), ...access })
  .meta({ id: "OpenidClientGrant" });

const unlistedClient = z
  .strictObject({
    id: z
      .string()
      .nullable()
      .describe("Null if a former version has stored it, by the hash of its id alone."),
    origin: origins.exclude(["listed"]),
    name: z.string().nullable().describe("As it calls itself. Nothing of what it says is verified."),
    uri: z.string().nullable(),
    redirect_uris: z.array(z.string()),
    token_endpoint_auth_method: z.string().nullable(),
    created_at: time.describe("When it was read first, or has registered."),
    expires_at: time.describe("When it is forgotten, unless a user allows it anything before."),
  })
  .meta({ id: "UnlistedOpenidClient" });

const shownAccess = ({ allowed, since, expiresAt, accessTokens, refreshTokens }: Access) => ({
  consent: allowed && { ...allowed, expires_at: expiresAt },
  since,
  access_tokens: accessTokens,
  refresh_tokens: refreshTokens,
});

/** Applications that have access to the accounts of users. */
export const userApplicationAddresses = [
  listOperation("GET /admin/users/{id}/applications", {
    id: "listUserApplications",
    summary: "List the applications that have access to an account by OpenID Connect, newest first",
    item: userApplication,
    counts: "Number of applications.",
    async list(context, { params, page }) {
      const { now } = await requestContextOf(context);
      const found = await listUserApplications({ ...context, now }, params.id, page);
      if (!found.ok) return found;
      const items = found.accesses.map((one) => {
        const { name, origin } = describedApplication(context.tenant, one) ?? { name: null, origin: null };
        return { id: one.clientId, name, origin, ...shownAccess(one) };
      });
      return { items, total: found.total };
    },
  }),
  changeOperation("DELETE /admin/users/{id}/applications/{client_id}", {
    id: "endUserApplication",
    summary: "End the access of an application to an account, with its codes and tokens",
    description: "The next request of the application asks for consent as its first one did.",
    params: { client_id: clientId() },
    answers: { 204: "The access is ended." },
    perform: (context, { params }) => endUserApplication(context, params.id, params.client_id),
  }),
];

/** The same by application, and applications that no operator has listed. */
export const openidAccessAddresses = tenantPlaces.flatMap(({ prefix, suffix, of }) => [
  listOperation(`GET ${prefix}/openid/clients/{client_id}/grants` as const, {
    id: `listOpenidClientGrants${suffix}`,
    summary: `List the users of ${of} to whose accounts a client has access, newest first`,
    description: "Also of a client that is not listed.",
    params: { client_id: clientId() },
    item: clientGrant,
    counts: "Number of users.",
    async list(context, { params, page }) {
      const { id, client_id } = params as { id?: string; client_id: string };
      const tenantId = managedTenant(context, id);
      if (tenantId === null) return notFound;
      const { runtime, now } = await requestContextOf(context);
      const { accesses, total } = await heavyRead(runtime.database.read, () =>
        listApplicationAccesses(runtime, tenantId, client_id, now, page),
      );
      const items = accesses.map((one) => ({ user_id: one.userId, email: one.email, ...shownAccess(one) }));
      return { items, total };
    },
  }),
  listOperation(`GET ${prefix}/openid/unlisted_clients` as const, {
    id: `listUnlistedOpenidClients${suffix}`,
    summary: `List the clients of ${of} that describe themselves: by a document, or by registering; newest first`,
    description: "Client ID Metadata Documents, and registrations by RFC 7591.",
    item: unlistedClient,
    counts: "Number of clients.",
    async list(context, { params, page }) {
      const tenantId = managedTenant(context, (params as { id?: string }).id);
      if (tenantId === null) return notFound;
      const { runtime, now } = await requestContextOf(context);
      const tenant = { ...context.tenant, id: tenantId };
      const { clients, total } = await heavyRead(runtime.database.read, () =>
        listUnlistedClients({ runtime, tenant }, now, page),
      );
      const items = clients.map(({ id, origin, description, createdAt, expiresAt }) => ({
        id,
        origin,
        name: description.client_name ?? null,
        uri: description.client_uri ?? null,
        redirect_uris: description.redirect_uris,
        token_endpoint_auth_method: description.token_endpoint_auth_method ?? null,
        created_at: createdAt.toISOString(),
        expires_at: expiresAt.toISOString(),
      }));
      return { items, total };
    },
  }),
]);
