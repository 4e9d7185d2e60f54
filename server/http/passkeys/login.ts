import { z } from "zod";
import { finalizeLogin, initializeDiscoverableLogin, initializeLogin } from "../../passkey-server/login.ts";
import type { CredentialKind } from "../../passkey-server/options.ts";
import { json } from "../answer/reply.ts";
import { type Handler, requestContextOf } from "../table/handler-context.ts";
import { apiKeyOf, rejectWithoutApiKey } from "./api-key.ts";
import { errorReply } from "./error-reply.ts";
import { readBody, readFields, rejectionReply, requiredText, verdictReply } from "./request.ts";

/** The id needs no limit: a longer one than allowed matches no user. */
export const userFields = z.object({ user_id: requiredText() });

export const optionalUserFields = userFields.partial();

/**
 * `POST login/initialize`: options for signing in. Without a user id they accept any discoverable passkey and need no
 * API key; with one, an API key is required.
 */
export const initializeLoginHandler: Handler = async (context) => {
  const read = await readFields(context, optionalUserFields);
  if (!read.ok) return read.reply;
  const { user_id: userId } = read.fields;
  const keyMissing = apiKeyOf(context) === "";
  const keyError = keyMissing ? errorReply(401, "api key is missing") : await rejectWithoutApiKey(context);
  if (userId !== undefined)
    return (
      keyError ?? verdictReply(await initializeLogin(await requestContextOf(context), "passkey", userId))
    );
  const caller = keyError ? "public" : "application";
  return verdictReply(await initializeDiscoverableLogin(await requestContextOf(context), caller));
};

/** `POST mfa/login/initialize`: options for a second factor, which may be any credential of the user. */
export const initializeMfaLoginHandler: Handler = async (context) => {
  const read = await readFields(context, userFields);
  if (!read.ok) return read.reply;
  const opened = await initializeLogin(await requestContextOf(context), "mfa", read.fields.user_id);
  return opened.ok
    ? json(200, { publicKey: opened.publicKey, mediation: "optional" })
    : rejectionReply(opened);
};

/** `POST login/finalize`, `POST mfa/login/finalize`: exchanges the browser's response for a token. */
export function finalizeLoginHandler(kind: CredentialKind): Handler {
  return async (context) => {
    const read = await readBody(context, "malformed_assertion");
    if (!read.ok) return read.reply;
    return verdictReply(await finalizeLogin(await requestContextOf(context), kind, read.body));
  };
}
