import { type FlowType, flowTypes } from "../../flow/names.ts";
import { MAILED_LINK_PATH, type MailedCode, openMailedLink } from "../../methods/mailed-link/mailed-link.ts";
import { isMailedFor, isValidPasscode } from "../../methods/passcode/passcodes.ts";
import type { ClientContext } from "../../runtime.ts";
import type { Message } from "../answer/message-document.ts";
import { messagePage } from "../answer/message-page.ts";
import { codeOfLink, endedLink, mailedLinkPage } from "../answer/messages.ts";
import { plainError, type Reply, redirect } from "../answer/reply.ts";
import { readText } from "../request/body.ts";
import { withinTenant } from "../request/tenant-path.ts";
import { clientContext, type Handler, type HandlerContext } from "../table/handler-context.ts";
import { assertKnownPageCookie, flowCookie, openFlowCookie, type PageFlow } from "./page-cookie.ts";
import { actAfterLostAnswer, peekOnPage } from "./page-flow.ts";
import { formError, pageAddress, resultOfStep } from "./step.ts";

/**
 * The page of the link in a mail. Programs that look through mails follow links, so reading the page uses nothing, and
 * only the press of its button does. In the browser that holds the flow it is the step that typing the code is; in any
 * other one it shows the code, and nothing is signed in, so that a link sent to another person signs them in to nothing.
 */

/** `GET /mailed-link?token=`: a page with one button. Reads only. */
export const mailedLinkHandler: Handler = async (context) => {
  const tokens = context.url.searchParams.getAll("token");
  const link = openLink(context, tokens);
  if (link === null) return unknownLink();
  const held = await heldFlow(context, link.code);
  if (!(await isValid(await clientContext(context), link.code))) return endedPage(context, held);
  const action = withinTenant(context.tenant.config, MAILED_LINK_PATH);
  return page(context, 200, mailedLinkPage(held !== null, { action, token: link.token }));
};

/** `POST /mailed-link`: the press. */
export const pressedLinkHandler: Handler = async (context) => {
  const text = await readText(context.request, "application/x-www-form-urlencoded");
  if (!text.ok) return formError(text.reason);
  const link = openLink(context, new URLSearchParams(text.value).getAll("token"));
  if (link === null) return unknownLink();
  const held = await heldFlow(context, link.code);
  const shown = held && (await peekOnPage(context, held.type, held.flow));
  const request = await clientContext(context);
  const isCurrent = await isValid(request, link.code);
  if (!held || !shown)
    return isCurrent ? page(context, 200, codeOfLink(link.code.code)) : endedPage(context, held);
  const { state, version, awaitedCode } = shown;
  // A second press, or one after the code was typed: the flow has gone on.
  if (!awaitedCode) return redirect(303, pageAddress(held.type));
  // Another mailbox or purpose is asked for now, whose attempts this code must not use up.
  if (!isCurrent || !isMailedFor(request, link.code, awaitedCode)) return endedPage(context, held);
  const { type, flow } = held;
  const step = { type, action: "verify_passcode", version, input: { code: link.code.code } };
  return resultOfStep(context, type, await actAfterLostAnswer(context, flow, step), state, {});
};

interface Link {
  token: string;
  code: MailedCode;
}

/** @throws UnknownKeyError if the token was sealed with a key that this process lacks */
function openLink({ runtime, tenant }: HandlerContext, [token, ...others]: string[]): Link | null {
  if (token === undefined || others.length > 0) return null;
  const code = openMailedLink(runtime, tenant, token);
  return code && { token, code };
}

/** Asks the database only about a code that has not expired. */
async function isValid(request: ClientContext, code: MailedCode): Promise<boolean> {
  return code.expiresAt > request.now && (await isValidPasscode(request, code));
}

/** A flow of our own pages in this browser. */
interface HeldFlow {
  type: FlowType;
  flow: PageFlow;
}

/**
 * Finds the flow of a code among those whose cookies the browser sent. Flows of frames, applications and terminals are
 * held elsewhere.
 *
 * @throws UnknownKeyError if a cookie was sealed with a key that this process lacks
 */
async function heldFlow(
  { runtime, tenant, cookies }: HandlerContext,
  { flowId }: MailedCode,
): Promise<HeldFlow | null> {
  for (const type of flowTypes) {
    const flow = await openFlowCookie(runtime, tenant, { type, frame: undefined, cookies });
    if (flow?.flowId === flowId) return { type, flow };
  }
  // A flow that another server can open may be that of the code.
  for (const type of flowTypes) assertKnownPageCookie(runtime, tenant, flowCookie(type, undefined), cookies);
  return null;
}

/** The link leads to the page that shows where this browser stands. */
function endedPage(context: HandlerContext, held: HeldFlow | null): Reply {
  const home = withinTenant(context.tenant.config, held ? pageAddress(held.type) : "/");
  return page(context, 410, endedLink(home));
}

function page({ request, tenant }: HandlerContext, status: number, message: Message): Reply {
  return messagePage(status, request.headers, tenant.config, message, {
    // The address holds a token. The origin alone is told, so that the form is known to be of our own page, over plain http too.
    "Referrer-Policy": "strict-origin",
    "X-Robots-Tag": "noindex, nofollow",
  });
}

const unknownLink = () => plainError(400, "`token` is missing, incomplete, or not one of this service.");
