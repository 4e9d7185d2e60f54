import { z } from "zod";
import { finalizeLogin, initializeDiscoverableLogin, initializeLogin } from "../../passkey-server/login.ts";
import type { CredentialKind } from "../../passkey-server/options.ts";
import { authenticationResponse } from "../../webauthn/responses.ts";
import { requestContextOf } from "../table/handler-context.ts";
import { apiKeyOf, rejectWithoutApiKey } from "./api-key.ts";
import { errorReply } from "./error-reply.ts";
import { fieldsEndpoint, requiredText, responseEndpoint } from "./request.ts";

/** The id needs no limit: a longer one than allowed matches no user. */
const userFields = z.object({ user_id: requiredText() });

/**
 * `POST login/initialize`: options for signing in. Without a user id they accept any discoverable passkey and need no
 * API key; with one, an API key is required.
 */
export const loginInitialization = fieldsEndpoint(
  userFields.partial(),
  async (context, { user_id: userId }) => {
    const keyMissing = apiKeyOf(context) === "";
    const keyError = keyMissing ? errorReply(401, "api key is missing") : await rejectWithoutApiKey(context);
    if (userId === undefined)
      return initializeDiscoverableLogin(
        await requestContextOf(context),
        keyError ? "public" : "application",
      );
    return keyError ?? initializeLogin(await requestContextOf(context), "passkey", userId);
  },
);

/** `POST mfa/login/initialize`: options for a second factor, which may be any credential of the user. */
export const mfaLoginInitialization = fieldsEndpoint(userFields, async (context, { user_id: userId }) => {
  const opened = await initializeLogin(await requestContextOf(context), "mfa", userId);
  return opened.ok ? { ...opened, mediation: "optional" } : opened;
});

/** `POST login/finalize`, `POST mfa/login/finalize`: exchanges the browser's response for a token. */
export const loginFinalization = (kind: CredentialKind) =>
  responseEndpoint(authenticationResponse, "malformed_assertion", (context, body) =>
    finalizeLogin(context, kind, body),
  );
