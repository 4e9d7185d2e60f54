import { readText } from "../request/body.ts";
import type { Handler } from "../table/handler-context.ts";
import { answerClient } from "./client-requests.ts";
import { OFF, oauthError } from "./error.ts";

/**
 * What asks something of the sign-in. Its user has signed in elsewhere, before the device is known, so that it would be
 * ignored.
 */
const ofSignIn = ["acr_values", "claims", "id_token_hint", "max_age"] as const;

/** `POST /oauth/device`: a device asks for its codes (RFC 8628, 3.1). */
export const deviceHandler: Handler = async (context) => {
  if (!context.tenant.config.openid.enabled) return oauthError(404, OFF);
  const form = await readText(context.request, "application/x-www-form-urlencoded");
  if (!form.ok)
    return form.reason === "malformed"
      ? oauthError(400, "The form cannot be read.")
      : oauthError(413, "The form is too large.", { Connection: "close" });
  const asked = new URLSearchParams(form.value);
  const unsupported = ofSignIn.find((name) => asked.has(name));
  if (unsupported) return oauthError(400, `\`${unsupported}\` is not supported for devices.`);
  return answerClient(context, Buffer.from(form.value));
};
