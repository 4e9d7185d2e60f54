import { answerRequest } from "../../authenticator/answer-request.ts";
import { createRequest } from "../../authenticator/create-request.ts";
import { answerBody, requestBody } from "../../authenticator/request-input.ts";
import { cancelRequest } from "../../authenticator/request-writes.ts";
import { type AuthenticatorRequest, findRequest } from "../../authenticator/requests.ts";
import { notifyAnswered } from "../../authenticator/wait-for-answer.ts";
import type { ClientContext } from "../../runtime.ts";
import { json, type Reply } from "../answer/reply.ts";
import { clientContext, type HandlerContext } from "../table/handler-context.ts";
import { readBody } from "./body.ts";
import { type Caller, notFound, requireCaller, requireKey } from "./caller.ts";
import { authenticatorError } from "./error.ts";
import { pageHeaders } from "./page-headers.ts";
import { resourceOf, statusOf } from "./resource.ts";
import { awaitAnswer, readWait } from "./wait.ts";

/** Requests: create, read, answer and cancel (docs/authenticator-requests.md). */

/** `POST /authenticator/v1/uaf/requests` */
export const createHandler = requireKey(async (context) => {
  const { runtime, tenant } = context;
  const wanted = await readBody(context, requestBody);
  if (!wanted.ok) return wanted.reply;
  const { operation, userId } = wanted.value;
  // A DEREG does not prompt the user.
  if (operation !== "DEREG") {
    const rate = await runtime.rates.consume(tenant.id, "authenticator_request", userId);
    if (!rate.ok) return rateLimited(rate.retryAfterSeconds);
  }
  const created = await createRequest(await clientContext(context), wanted.value);
  return created.ok
    ? show(context, "application", created.request)
    : authenticatorError(400, created.message);
});

function rateLimited(retryAfterSeconds: number): Reply {
  return authenticatorError(429, "Too many requests for this user. Retry later.", {
    "Retry-After": String(retryAfterSeconds),
  });
}

/**
 * `GET /authenticator/v1/uaf/requests/{id}`. With `wait`, responds when the request ends, after at most so many seconds.
 */
export const showHandler = requireCaller(["authenticator", "page"], async (context, admitted) => {
  const wait = readWait(context, 0);
  if (!wait.ok) return wait.reply;
  return show(context, admitted.caller, await awaitAnswer(context, admitted, wait.seconds));
});

/** `PUT /authenticator/v1/uaf/requests/{id}`: the authenticator's answer. A request that has ended stays as it is. */
export const answerHandler = requireCaller(["authenticator"], async (context, admitted) => {
  const { caller, request } = admitted;
  const answer = await readBody(context, answerBody);
  if (!answer.ok) return answer.reply;
  const answered = await answerRequest(contextAt(context, admitted.now), request, answer.value);
  if (!answered.ok)
    return authenticatorError(
      400,
      `uafResponse is not a UAF response to this operation: ${answered.details}.`,
    );
  // A pending request is being verified for another answer; the waits continue.
  if (answered.request.status !== "PENDING") notifyAnswered(context.runtime, context.tenant, request.id);
  return show(context, caller, answered.request);
});

/** `DELETE /authenticator/v1/uaf/requests/{id}`: cancels the request. */
export const cancelHandler = requireCaller([], async (context, admitted) => {
  const { runtime, tenant } = context;
  const { id } = admitted.request;
  await cancelRequest(contextAt(context, admitted.now), id);
  notifyAnswered(runtime, tenant, id);
  const found = await findRequest(runtime, tenant, id);
  return found ? show(context, "application", found.request) : notFound();
});

function contextAt({ runtime, tenant, client }: HandlerContext, now: Date): ClientContext {
  return { runtime, tenant, client, now };
}

function show(context: HandlerContext, caller: Caller, request: AuthenticatorRequest): Reply {
  return caller === "application" || caller === "authenticator"
    ? json(200, resourceOf(context, caller, request))
    : json(200, statusOf(request), { headers: pageHeaders(context) });
}
