import { z } from "zod";
import { type ConfirmationAnswer, confirm, decline, resume } from "../../passkey-server/confirmation.ts";
import { redeemCode } from "../../passkey-server/confirmation-code.ts";
import { isObject } from "../body.ts";
import type { Handler } from "../handler-context.ts";
import { json } from "../reply.ts";
import {
  invalidRequestReply,
  readFields,
  rejectionReply,
  requestContextOf,
  requiredText,
  verdictReply,
} from "./request.ts";

const answer = z.object({
  token: requiredText(128),
  credential: z.custom<Record<string, unknown>>(isObject, { error: "must be an object" }).optional(),
  declined: z.literal(true, { error: "must be true" }).optional(),
  resume: z.literal(true, { error: "must be true" }).optional(),
});

/**
 * `POST transaction/confirm`: what the user answered on our own page; or with `resume` nothing, for the way back once
 * more. `answer` is the one that counts, which is the first. A refusal that the page can ask after once more
 * carries `publicKey`, the options to ask with.
 */
export const confirmHandler: Handler = async (context) => {
  const read = await readFields(context, answer);
  if (!read.ok) return read.reply;
  const { token, credential, declined, resume: resumed } = read.fields;
  if ([credential, declined, resumed].filter((said) => said !== undefined).length !== 1)
    return invalidRequestReply("just one of credential, declined and resume is a required field");
  const requestContext = await requestContextOf(context);
  const taken: ConfirmationAnswer = credential
    ? await confirm(requestContext, token, credential)
    : await (declined ? decline : resume)(requestContext, token);
  if (taken.ok) return json(200, { answer: taken.answer, redirect_to: taken.redirectTo });
  if (!taken.publicKey) return rejectionReply(taken);
  const { title, details, status } = taken.error;
  return json(status, { title, details, status, publicKey: taken.publicKey });
};

const redeemed = z.object({ code: requiredText(128) });

/** `POST transaction/redeem`: the one-time code that the user's browser brought, for a token and a receipt. */
export const redeemHandler: Handler = async (context) => {
  const read = await readFields(context, redeemed);
  return read.ok ? verdictReply(await redeemCode(context, read.fields.code)) : read.reply;
};
