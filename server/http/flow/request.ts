import { isUuid } from "../../lib/uuid.ts";
import { isObject } from "../body.ts";

/** What the query of a flow's address asks for. */
export type Asked =
  | { kind: "start" }
  | { kind: "action"; action: string; flowId: string }
  | { kind: "malformed" };

const actionName = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * Reads `?action=<name>@<flow id>`. Absent or empty starts a flow; anything else that is not exactly one name and
 * one UUID is malformed, and never starts one. Other parameters mean nothing here.
 */
export function parseAsked(query: URLSearchParams): Asked {
  const given = query.getAll("action");
  if (given.length === 0 || (given.length === 1 && given[0] === "")) return { kind: "start" };
  const [action = "", flowId = "", ...rest] = given.length === 1 ? (given[0]?.split("@") ?? []) : [];
  if (rest.length > 0 || !actionName.test(action) || !isUuid(flowId)) return { kind: "malformed" };
  return { kind: "action", action, flowId: flowId.toLowerCase() };
}

/** What the body of an action's request carries. */
export interface Envelope {
  /** `csrf_token`; empty when it is missing or no string, which fits no flow. */
  token: string;
  input: Record<string, unknown>;
}

/**
 * Reads the body of an action's request: `csrf_token` and `input_data`, and no other member.
 *
 * @returns null for a body that has other members, or whose `input_data` is no object
 */
export function parseEnvelope(body: Record<string, unknown>): Envelope | null {
  const { csrf_token: token, input_data: input, ...others } = body;
  if (Object.keys(others).length > 0) return null;
  if (input !== undefined && input !== null && !isObject(input)) return null;
  return { token: typeof token === "string" ? token : "", input: input ?? {} };
}
