import { answerRequest } from "../../authenticator/answer-request.ts";
import { createRequest } from "../../authenticator/create-request.ts";
import { readAnswer, readWanted } from "../../authenticator/request-input.ts";
import { type AuthenticatorRequest, cancelRequest, findRequest } from "../../authenticator/requests.ts";
import { tellAnswered } from "../../authenticator/wait-for-answer.ts";
import type { ClientContext } from "../../runtime.ts";
import { clientContext, type Handler, type HandlerContext } from "../handler-context.ts";
import { json, type Reply } from "../reply.ts";
import { readBody } from "./body.ts";
import { admit, type Caller, rejectWithoutKey, unknownRequest } from "./caller.ts";
import { authenticatorError } from "./error.ts";
import { pageHeaders } from "./page-headers.ts";
import { resourceOf } from "./resource.ts";
import { awaitAnswer, readWait } from "./wait.ts";

/** The life of a request: `interface.md` 2.3 and 4.3. */

/** `POST /authenticator/v1/uaf/requests` */
export const createHandler: Handler = async (context) => {
  const { runtime, tenant } = context;
  const rejection = await rejectWithoutKey(context);
  if (rejection) return rejection;
  const wanted = await readBody(context, readWanted);
  if (!wanted.ok) return wanted.rejection;
  const { operation, userId } = wanted.value;
  // What asks nothing of a phone bothers nobody.
  if (operation !== "DEREG") {
    const rate = await runtime.rates.consume("authenticator_request", `${tenant.id}/${userId}`);
    if (!rate.ok) return tooMany(rate.retryAfterSeconds);
  }
  return show(context, "application", await createRequest(await clientContext(context), wanted.value));
};

function tooMany(retryAfterSeconds: number): Reply {
  return authenticatorError(429, "Too many requests were made for this user. Wait a while and try again.", {
    "Retry-After": String(retryAfterSeconds),
  });
}

/**
 * `GET /authenticator/v1/uaf/requests/{id}`; with `wait`, so many seconds later unless the request is answered, or
 * runs out, before.
 */
export const showHandler: Handler = async (context) => {
  const admitted = await admit(context, "phone", "page");
  if ("rejection" in admitted) return admitted.rejection;
  const { caller, request } = admitted;
  const wait = readWait(context, 0);
  if ("rejection" in wait) return wait.rejection;
  return show(context, caller, await awaitAnswer(context, request, wait.seconds));
};

/** `PUT /authenticator/v1/uaf/requests/{id}`: the phone's answer. A request that is over stays as it is. */
export const answerHandler: Handler = async (context) => {
  const admitted = await admit(context, "phone");
  if ("rejection" in admitted) return admitted.rejection;
  const { caller, request } = admitted;
  const answer = await readBody(context, readAnswer);
  if (!answer.ok) return answer.rejection;
  const answered = await answerRequest(acting(context, admitted.now), request, answer.value);
  if (answered === "malformed")
    return authenticatorError(400, "uafResponse is not a UAF response to this operation.");
  // Another answer may be judged still, which those who wait are waiting for.
  if (answered.status !== "PENDING") tellAnswered(context.runtime, context.tenant, request.id);
  return show(context, caller, answered);
};

/** `DELETE /authenticator/v1/uaf/requests/{id}`: nobody is to answer any more. */
export const cancelHandler: Handler = async (context) => {
  const admitted = await admit(context);
  if ("rejection" in admitted) return admitted.rejection;
  const { runtime, tenant } = context;
  const { id } = admitted.request;
  await cancelRequest(acting(context, admitted.now), id);
  tellAnswered(runtime, tenant, id);
  const found = await findRequest(runtime, tenant, id);
  return found ? show(context, "application", found.request) : unknownRequest();
};

function acting({ runtime, tenant, client }: HandlerContext, now: Date): ClientContext {
  return { runtime, tenant, client, now };
}

function show(context: HandlerContext, caller: Caller, request: AuthenticatorRequest): Reply {
  const headers = caller === "page" ? pageHeaders(context) : {};
  return json(200, resourceOf(context, caller, request), { headers });
}
