import { z } from "zod";
import {
  listCredentials,
  removeCredential,
  renameCredential,
  showCredential,
} from "../../passkey-server/credentials.ts";
import { json } from "../answer/reply.ts";
import { type Handler, type HandlerContext, requestContextOf } from "../table/handler-context.ts";
import { pageHeaders } from "../table/paging.ts";
import { readPage } from "./read-page.ts";
import {
  fieldsEndpoint,
  invalidRequestReply,
  rejectionReply,
  requiredText,
  verdictReply,
} from "./request.ts";

const idOf = ({ params }: HandlerContext) => params.credential_id ?? "";

/** `GET credentials`: the credentials of a user, or of the whole tenant, in pages. */
export const listCredentialsHandler: Handler = async ({ runtime, tenant, url }) => {
  const { searchParams: query } = url;
  const read = readPage(query);
  if (!read.ok) return read.reply;
  const { page } = read;
  const order = query.get("order") ?? "desc";
  if (order !== "asc" && order !== "desc") return invalidRequestReply("order must be one of 'asc desc'");
  const { credentials, total } = await listCredentials(runtime.database.read, tenant.id, {
    // An empty id matches no user; it must not list the whole tenant.
    userId: query.get("user_id") ?? undefined,
    order,
    offset: (page.number - 1) * page.size,
    limit: page.size,
  });
  return json(200, credentials, { headers: pageHeaders(tenant.config, url, page, total) });
};

/** `GET credentials/{credential_id}`. */
export const showCredentialHandler: Handler = async (context) => {
  const { runtime, tenant } = context;
  const found = await showCredential(runtime.database.read, tenant.id, idOf(context));
  return found.ok ? json(200, found.credential) : rejectionReply(found);
};

const nameFields = z.object({
  name: requiredText(128).refine((value) => value.trim() !== "", "is a required field"),
});

/** `PATCH credentials/{credential_id}`: renames it. */
export const credentialRenaming = fieldsEndpoint(nameFields, async (context, { name }) =>
  renameCredential(await requestContextOf(context), idOf(context), name),
);

/** `DELETE credentials/{credential_id}`. */
export const removeCredentialHandler: Handler = async (context) =>
  verdictReply(await removeCredential(await requestContextOf(context), idOf(context)));
