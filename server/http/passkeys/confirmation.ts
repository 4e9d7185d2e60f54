import { z } from "zod";
import { type ConfirmationAnswer, confirm, decline, resume } from "../../passkey-server/confirmation.ts";
import { redeemCode } from "../../passkey-server/confirmation-code.ts";
import { json } from "../answer/reply.ts";
import { isObject } from "../request/body.ts";
import { requestContextOf } from "../table/handler-context.ts";
import { fieldsEndpoint, invalidRequestReply, requiredText } from "./request.ts";

const confirmationFields = z.object({
  token: requiredText(128),
  credential: z
    .custom<Record<string, unknown>>(isObject, { error: "must be an object" })
    .meta({ type: "object" })
    .optional(),
  declined: z.literal(true, { error: "must be true" }).optional(),
  resume: z.literal(true, { error: "must be true" }).optional(),
});

/**
 * `POST transaction/confirm`: the user's answer on the confirmation page, or with `resume` the repetition of a lost
 * redirect. The returned `answer` is the recorded one, which is the first. A rejection after which the user can try
 * again carries `publicKey`, the options for it.
 */
export const confirmation = fieldsEndpoint(confirmationFields, async (context, fields) => {
  const { token, credential, declined, resume: resumed } = fields;
  if ([credential, declined, resumed].filter((given) => given !== undefined).length !== 1)
    return invalidRequestReply("exactly one of credential, declined and resume is a required field");
  const requestContext = await requestContextOf(context);
  const outcome: ConfirmationAnswer = credential
    ? await confirm(requestContext, token, credential)
    : await (declined ? decline : resume)(requestContext, token);
  if (outcome.ok) return json(200, { answer: outcome.answer, redirect_to: outcome.redirectTo });
  if (!outcome.publicKey) return outcome;
  const { title, details, status } = outcome.error;
  return json(status, { title, details, status, publicKey: outcome.publicKey });
});

/** `POST transaction/redeem`: exchanges the one-time code of the redirect for a token and a receipt. */
export const redemption = fieldsEndpoint(z.object({ code: requiredText(128) }), (context, { code }) =>
  redeemCode(context, code),
);
