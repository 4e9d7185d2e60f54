import { z } from "zod";
import type { CredentialKind } from "../../passkey-server/options.ts";
import { finalizeRegistration, initializeRegistration } from "../../passkey-server/registration.ts";
import { registrationResponse } from "../../webauthn/responses.ts";
import { requestContextOf } from "../table/handler-context.ts";
import {
  fieldsEndpoint,
  iconField,
  optionalText,
  requiredText,
  responseEndpoint,
  userIdField,
} from "./request.ts";

const registrationFields = z.object({
  user_id: userIdField(),
  username: requiredText(128),
  display_name: optionalText(128),
  icon: iconField(),
});

/** `POST registration/initialize`, `POST mfa/registration/initialize`: options for a new credential. */
export const registrationInitialization = (kind: CredentialKind) =>
  fieldsEndpoint(registrationFields, async (context, fields) => {
    const { user_id: userId, username: name, display_name, icon } = fields;
    const displayName = display_name?.trim() ? display_name : name;
    const user = { userId, name, displayName, icon: icon || null };
    return initializeRegistration(await requestContextOf(context), kind, user);
  });

/** `POST registration/finalize`, `POST mfa/registration/finalize`: exchanges the browser's response for a token. */
export const registrationFinalization = (kind: CredentialKind) =>
  responseEndpoint(registrationResponse, "malformed_attestation", (context, body) =>
    finalizeRegistration(context, kind, body),
  );
