import { z } from "zod";
import { capabilitiesReport, type ReportedCapabilities, startCapabilities } from "../../flow/capabilities.ts";
import type { FirstStep } from "../../flow/engine.ts";
import { beginsWithPreflight, type FlowType, isOfSession } from "../../flow/names.ts";
import { codeChallengePattern } from "../../lib/pkce.ts";
import { isUuid } from "../../lib/uuid.ts";
import { userCodeText } from "../../openid/user-code.ts";
import { isObject } from "../request/body.ts";

/** What the query of a flow's address asks for. */
export type FlowParameters =
  | { kind: "start"; codeChallenge?: string; authorization?: string; choosing?: string }
  | { kind: "action"; action: string; flowId: string }
  | { kind: "malformed" };

/** Names of actions. */
export const actionName = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * Reads `?action=<name>@<flow id>`. An absent or empty parameter starts a flow. Any other value that is not one name
 * and one UUID is malformed. `code_challenge` at the start of a flow that signs in binds the authorization code to be
 * issued; `request` names the authorization request that a consent flow is about, or for which the user of a login chooses an
 * account, `user_code` a device's. Other parameters are
 * ignored.
 */
export function parseFlowParameters(query: URLSearchParams, type: FlowType): FlowParameters {
  const given = query.getAll("action");
  if (given.length === 0 || (given.length === 1 && given[0] === ""))
    return isOfSession(type)
      ? { kind: "start", ...(type === "consent" ? askedIn(query) : {}) }
      : { ...parseCodeChallenge(query), ...(type === "login" ? choosingIn(query) : {}) };
  const [action = "", flowId = "", ...rest] = given.length === 1 ? (given[0]?.split("@") ?? []) : [];
  if (rest.length > 0 || !actionName.test(action) || !isUuid(flowId)) return { kind: "malformed" };
  return { kind: "action", action, flowId: flowId.toLowerCase() };
}

/** A flow that is about no request asks for the code of a device. */
function askedIn(query: URLSearchParams): { authorization: string } | { userCode: string } {
  const request = query.get("request");
  if (request !== null) return { authorization: request };
  return { userCode: userCodeText(query.get("user_code") ?? "") };
}

/** A longer one names no request. */
const MAX_REQUEST_CHARACTERS = 64;

function choosingIn(query: URLSearchParams): { choosing?: string } {
  const request = query.get("request");
  return request === null || request.length > MAX_REQUEST_CHARACTERS ? {} : { choosing: request };
}

/** Reads `code_challenge` (RFC 7636, 4.3); the only method is S256. */
function parseCodeChallenge(query: URLSearchParams): FlowParameters {
  const [challenge, ...others] = query.getAll("code_challenge");
  if (query.getAll("code_challenge_method").some((method) => method !== "S256")) return { kind: "malformed" };
  if (challenge === undefined) return { kind: "start" };
  if (others.length > 0 || !codeChallengePattern.test(challenge)) return { kind: "malformed" };
  return { kind: "start", codeChallenge: challenge };
}

/** The body of an action's request. */
export interface ActionBody {
  /** `csrf_token`; if it is missing or not a string, the empty string, which matches no flow. */
  token: string;
  input: Record<string, unknown>;
}

/**
 * Reads the body of an action's request.
 *
 * @returns null if it has other members than `csrf_token` and `input_data`, or `input_data` is not an object
 */
export function parseActionBody(body: Record<string, unknown>): ActionBody | null {
  const { csrf_token: token, input_data: input, ...others } = body;
  if (Object.keys(others).length > 0) return null;
  if (input !== undefined && input !== null && !isObject(input)) return null;
  return { token: typeof token === "string" ? token : "", input: input ?? {} };
}

/** What the body of a start may say: capabilities of the browser, and the first action with its input. */
const beginningBody = z.strictObject({
  capabilities: startCapabilities.nullish(),
  action: z.string().regex(actionName).nullish(),
  input: z.record(z.string(), z.unknown()).nullish(),
});

/**
 * Reads the body of a request that starts a flow. One that names neither capabilities nor an action starts a flow
 * whatever it holds, as published clients expect; capabilities alone are reported by the first action.
 *
 * @returns null if it names one of them and is malformed
 */
export function parseBeginning(
  body: Record<string, unknown>,
  type: FlowType,
): { capabilities?: ReportedCapabilities; first?: FirstStep } | null {
  if (!body.capabilities && !body.action) return {};
  const parsed = beginningBody.safeParse(body);
  if (!parsed.success) return null;
  const { capabilities, action, input } = parsed.data;
  if (action) return { ...(capabilities ? { capabilities } : {}), first: { action, input: input ?? {} } };
  return capabilities && beginsWithPreflight(type) ? { first: capabilitiesReport(capabilities) } : {};
}
