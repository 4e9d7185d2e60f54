import type { Adapter, AdapterPayload } from "oidc-provider";
import type { TenantContext } from "../context/context.ts";
import type { Session } from "../objects/session.ts";
import { artifactStorage } from "./artifact-storage.ts";
import { contextClassOf } from "./authentication-context.ts";
import { presentVisitor } from "./visitor.ts";

type Process = Parameters<typeof artifactStorage>[0]["runtime"];

/**
 * Authorization requests that wait for their user (interactions). The library asks what the user has done when the browser
 * returns: that is the session which it has then, so that the pages of the service have nothing to report.
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
      const { session: _, ...request } = payload;
      return session && isAnsweredBy(session, request)
        ? { ...request, result: { ...request.result, login: loginOf(session) } }
        : request;
    },
  };
}

/** Whether a session is the sign-in that a request waits for: any, unless it asks for one after it was made. */
function isAnsweredBy({ authenticatedAt }: Session, { prompt, iat = 0 }: AdapterPayload): boolean {
  if (prompt?.name !== "login") return false;
  const takesAny = prompt.reasons.every((reason) => reason === "no_session");
  return takesAny || Math.floor(authenticatedAt.getTime() / 1000) >= iat;
}

function loginOf({ userId, authenticatedAt, amr, factors }: Session) {
  return {
    accountId: userId,
    ts: Math.floor(authenticatedAt.getTime() / 1000),
    amr,
    acr: contextClassOf(factors),
  };
}
