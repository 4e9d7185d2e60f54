import { z } from "zod";
import { finalizeLogin, initializeDiscoverableLogin, initializeLogin } from "../../passkey-server/login.ts";
import type { CredentialKind } from "../../passkey-server/options.ts";
import type { Handler } from "../handler-context.ts";
import { json } from "../reply.ts";
import { apiKeyOf, rejectWithoutApiKey } from "./api-key.ts";
import { errorReply } from "./error-reply.ts";
import {
  readBody,
  readFields,
  rejectionReply,
  requestContextOf,
  requiredText,
  verdictReply,
} from "./request.ts";

/** An id that is too long for anybody's is nobody's, so it needs no bound here. */
const userFields = z.object({ user_id: requiredText() });

const optionalUserFields = userFields.partial();

/**
 * `POST login/initialize`: options for signing in. Anybody may ask for those by which any passkey will do; to have
 * those of a user takes a key.
 */
export const initializeLoginHandler: Handler = async (context) => {
  const read = await readFields(context, optionalUserFields);
  if (!read.ok) return read.reply;
  const { user_id: userId } = read.fields;
  const keyless = apiKeyOf(context) === "";
  const unopened = keyless ? errorReply(401, "api key is missing") : await rejectWithoutApiKey(context);
  if (userId !== undefined)
    return (
      unopened ?? verdictReply(await initializeLogin(await requestContextOf(context), "passkey", userId))
    );
  const asker = unopened ? "anybody" : "application";
  return verdictReply(await initializeDiscoverableLogin(await requestContextOf(context), asker));
};

/** `POST mfa/login/initialize`: options for showing a second factor, any credential of the user's. */
export const initializeMfaLoginHandler: Handler = async (context) => {
  const read = await readFields(context, userFields);
  if (!read.ok) return read.reply;
  const opened = await initializeLogin(await requestContextOf(context), "mfa", read.fields.user_id);
  return opened.ok
    ? json(200, { publicKey: opened.publicKey, mediation: "optional" })
    : rejectionReply(opened);
};

/** `POST login/finalize`, `POST mfa/login/finalize`: the browser's answer, for a token. */
export function finalizeLoginHandler(kind: CredentialKind): Handler {
  return async (context) => {
    const read = await readBody(context);
    if (!read.ok) return read.reply;
    return verdictReply(await finalizeLogin(await requestContextOf(context), kind, read.body));
  };
}
