import { z } from "zod";
import type { CredentialKind } from "../../passkey-server/options.ts";
import { finalizeRegistration, initializeRegistration } from "../../passkey-server/registration.ts";
import { json } from "../answer/reply.ts";
import { type Handler, requestContextOf } from "../table/handler-context.ts";
import {
  iconField,
  optionalText,
  readBody,
  readFields,
  requiredText,
  userIdField,
  verdictReply,
} from "./request.ts";

/** The body of `POST registration/initialize`. */
export const registrationFields = z.object({
  user_id: userIdField(),
  username: requiredText(128),
  display_name: optionalText(128),
  icon: iconField(),
});

/** `POST registration/initialize`, `POST mfa/registration/initialize`: options for a new credential. */
export function initializeRegistrationHandler(kind: CredentialKind): Handler {
  return async (context) => {
    const read = await readFields(context, registrationFields);
    if (!read.ok) return read.reply;
    const { user_id: userId, username: name, display_name, icon } = read.fields;
    const displayName = display_name?.trim() ? display_name : name;
    const user = { userId, name, displayName, icon: icon || null };
    return json(200, await initializeRegistration(await requestContextOf(context), kind, user));
  };
}

/** `POST registration/finalize`, `POST mfa/registration/finalize`: exchanges the browser's response for a token. */
export function finalizeRegistrationHandler(kind: CredentialKind): Handler {
  return async (context) => {
    const read = await readBody(context, "malformed_attestation");
    if (!read.ok) return read.reply;
    return verdictReply(await finalizeRegistration(await requestContextOf(context), kind, read.body));
  };
}
