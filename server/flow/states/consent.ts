import { z } from "zod";
import { ConflictError } from "#db/errors";
import type { Write } from "#db/write";
import { audit } from "../../audit/audit.ts";
import { emit } from "../../events/emit.ts";
import { type Answer, allow, deny } from "../../openid/consents.ts";
import { eventGrant } from "../../openid/event-grant.ts";
import { authorizationPayload, questionOf, resumeAddress } from "../authorization.ts";
import { type Context, state, type View } from "../define.ts";
import { go, reject, retryPayload } from "../outcome.ts";

type ConsentContext = Context<"userId" | "authorization">;

/** The user decides whether an application that is not the operator's own may have what it asks for. */
export const consent = state({
  name: "consent",
  needs: ["userId", "authorization"],
  shows: authorizationPayload,
  actions: (action) => ({
    consent_allow: action({
      description: "Let the application have what it asks for.",
      costs: ["write"],
      input: answerInput,
      to: ["consent_answered"],
      errors: ["operation_not_permitted_error"],
      async run(context, { question }) {
        const { request, data } = context;
        const { authorization, userId } = data;
        const { clientId, application: described, asked: allowed } = authorization;
        const grant = eventGrant(request.tenant.config, { userId, clientId, described, allowed });
        const write = authorization.device
          ? await answerOfDevice(context, "allowed")
          : allow(request.tenant.id, userId, authorization, request.now);
        return answer(
          context,
          question,
          [write, emit(request, "oauth.grant.create", grant)],
          "consent_given",
        );
      },
    }),
    consent_deny: action({
      description: "Refuse what the application asks for.",
      costs: ["write"],
      input: answerInput,
      to: ["consent_answered"],
      errors: ["operation_not_permitted_error"],
      async run(context, { question }) {
        const { request, data } = context;
        const write = data.authorization.device
          ? await answerOfDevice(context, "denied")
          : deny(request.tenant.id, data.userId, data.authorization, request.now);
        return answer(context, question, [write], "consent_declined");
      },
    }),
  }),
});

/** An answer names the question that was shown: another window may have asked for another application since, or as another user. */
function answerInput({ data }: View) {
  return z.strictObject({
    question: z
      .string()
      .max(64)
      .meta({ hidden: true, preset: questionOf(data) }),
  });
}

/** The write of an answer to a device, which then goes on itself. */
async function answerOfDevice({ request, data }: ConsentContext, answer: Answer): Promise<Write> {
  const { runtime, session } = request;
  const write = session && (await runtime.openid.answerDevice(request, session, data.authorization, answer));
  return write ?? (() => Promise.reject(new ConflictError("authorization")));
}

/** The page shows another question at once, and a second click on the former one must not answer it. */
const READING_SECONDS = 3;

function answer(
  { request, data }: ConsentContext,
  question: string,
  writes: Write[],
  type: "consent_given" | "consent_declined",
) {
  if (question !== questionOf(data))
    return reject("operation_not_permitted_error", { payload: retryPayload(READING_SECONDS) });
  const { authorization, userId } = data;
  const { clientId, asked } = authorization;
  const scopes = [...asked.scopes, ...Object.values(asked.resources).flat()];
  const device = authorization.device ? { device: true } : {};
  const entry = audit(
    request,
    type,
    { client_id: clientId, scopes, claims: asked.claims, ...device },
    userId,
  );
  return go("consent_answered", {
    writes: [...writes, entry],
    payload: authorization.device
      ? { device: true }
      : { redirect_url: resumeAddress(request.tenant.config, authorization) },
  });
}
