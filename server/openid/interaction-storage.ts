import type { Adapter, AdapterPayload } from "oidc-provider";
import type { TenantContext } from "../context/context.ts";
import type { Session } from "../objects/session.ts";
import { artifactStorage } from "./artifact-storage.ts";
import { contextClassOf } from "./authentication-context.ts";
import { CHOSEN } from "./consents.ts";
import { answeredBySigningIn, SELECT_ACCOUNT } from "./prompts.ts";
import { presentVisitor } from "./visitor.ts";

type Process = Parameters<typeof artifactStorage>[0]["runtime"];

/**
 * Authorization requests that wait for their user (interactions). The library asks what the user has done when the browser
 * returns: that is the session which it has then, and the consent that is stored, so that the pages of the service have
 * nothing to report.
 */
export function interactionStorage(context: TenantContext<Process>): Adapter {
  const stored = artifactStorage(context, "Interaction");
  return {
    ...stored,
    /** With whom it asks and for whom: it ends with the access of the client. */
    upsert(id, payload, expiresIn) {
      const { session, params } = payload;
      const { accountId } = session ?? {};
      const clientId = params?.client_id as string | undefined;
      const whose = { ...(accountId ? { accountId } : {}), ...(clientId ? { clientId } : {}) };
      return stored.upsert(id, { ...payload, ...whose }, expiresIn);
    },
    async find(id) {
      const payload = await stored.find(id);
      if (!payload) return undefined;
      const { session } = presentVisitor();
      // A user who has signed in meanwhile has another session than the request began with.
      const { session: _, consumed: _consumed, answer, ...request } = payload;
      if (!session) return request;
      const isConsent = request.prompt?.name === "consent";
      const result = isConsent ? answerOf(session, request, answer) : signInFor(session, request, answer);
      return result ? { ...request, result } : request;
    },
  };
}

type Result = NonNullable<AdapterPayload["result"]>;

/** What a user has answered to a request for consent; null: nothing yet. */
function answerOf(session: Session, request: AdapterPayload, answer: unknown): Result | null {
  if (request.accountId !== session.userId) return null;
  if (answer === "denied")
    return { error: "access_denied", error_description: "the user has denied the request" };
  if (answer !== "allowed") return null;
  const before = submittedBefore(session, request);
  return { ...before, ...(before.login ? { login: loginOf(session) } : {}), consent: {} };
}

/**
 * What a session answers to a request that waits for a sign-in: any session does, unless the request asks for a new one, or for
 * the user to choose.
 */
function signInFor(session: Session, request: AdapterPayload, answer: unknown): Result | null {
  const { prompt, iat = 0 } = request;
  const login = loginOf(session);
  const before = submittedBefore(session, request);
  const isNew = login.ts >= iat;
  const isChosen =
    prompt?.name === SELECT_ACCOUNT && answer === CHOSEN && request.accountId === session.userId;
  const takesAny = prompt?.name === "login" && prompt.reasons.every((reason) => reason === "no_session");
  if (isNew)
    return { ...before, login, ...Object.fromEntries(answeredBySigningIn.map((name) => [name, {}])) };
  // It has chosen, and not signed in: what else is asked of the sign-in is judged by the session.
  if (isChosen) return { ...before, [SELECT_ACCOUNT]: {} };
  return takesAny ? { ...before, login } : null;
}

/** What the same user has answered already: a request that asks for several things asks for one after the other. */
function submittedBefore({ userId }: Session, { lastSubmission, accountId }: AdapterPayload): Result {
  const isOfUser = (lastSubmission?.login?.accountId ?? accountId) === userId;
  return lastSubmission && isOfUser ? lastSubmission : {};
}

function loginOf({ userId, authenticatedAt, amr, factors }: Session) {
  return {
    accountId: userId,
    ts: Math.floor(authenticatedAt.getTime() / 1000),
    amr,
    acr: contextClassOf(factors),
  };
}
