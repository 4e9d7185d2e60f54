import type { Adapter, AdapterPayload } from "oidc-provider";
import type { TenantContext } from "../context/context.ts";
import type { Session } from "../objects/session.ts";
import { artifactStorage } from "./artifact-storage.ts";
import { contextClassOf } from "./authentication-context.ts";
import { findConsent } from "./consents.ts";
import { identifierHash } from "./identifier-hash.ts";
import { answeredBySigningIn } from "./prompts.ts";
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
    async find(id) {
      const payload = await stored.find(id);
      if (!payload) return undefined;
      const { session } = presentVisitor();
      // A user who has signed in meanwhile has another session than the request began with.
      const { session: _, consumed, ...request } = payload;
      if (!session) return request;
      if (request.prompt?.name === "consent") {
        const result = await consentTo(context, session, { request, id, isDenied: consumed !== undefined });
        return result ? { ...request, result } : request;
      }
      const result = signInFor(session, request);
      return result ? { ...request, result } : request;
    },
  };
}

/** What a user has answered to a request for consent; null: nothing yet. */
async function consentTo(
  context: TenantContext<Process>,
  session: Session,
  { request, id, isDenied }: { request: AdapterPayload; id: string; isDenied: boolean },
): Promise<AdapterPayload["result"] | null> {
  if (isDenied) return { error: "access_denied", error_description: "the user has denied the request" };
  const consent = await findConsent(context, session.userId, String(request.params?.client_id));
  if (consent?.requestHash !== identifierHash(id)) return null;
  // Where the request has asked for a sign-in too, that was made before the consent.
  const signedIn = request.lastSubmission?.login?.accountId === session.userId;
  return { consent: {}, ...(signedIn ? { login: loginOf(session) } : {}) };
}

/** What a session answers to a request that waits for a sign-in: any session does, unless the request asks for a new one. */
function signInFor(
  session: Session,
  { prompt, iat = 0 }: AdapterPayload,
): NonNullable<AdapterPayload["result"]> | null {
  const login = loginOf(session);
  const isNew = login.ts >= iat;
  const takesAny = prompt?.name === "login" && prompt.reasons.every((reason) => reason === "no_session");
  if (isNew) return { login, ...Object.fromEntries(answeredBySigningIn.map((name) => [name, {}])) };
  return takesAny ? { login } : null;
}

function loginOf({ userId, authenticatedAt, amr, factors }: Session) {
  return {
    accountId: userId,
    ts: Math.floor(authenticatedAt.getTime() / 1000),
    amr,
    acr: contextClassOf(factors),
  };
}
