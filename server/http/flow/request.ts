import { isUuid } from "../../lib/uuid.ts";
import { isObject } from "../body.ts";

/** The `action` parameter of a flow's address. */
export type ActionParameter =
  | { kind: "start" }
  | { kind: "action"; action: string; flowId: string }
  | { kind: "malformed" };

const actionName = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * Reads `?action=<name>@<flow id>`. An absent or empty parameter starts a flow. Any other value that is not one name
 * and one UUID is malformed. Other parameters are ignored.
 */
export function parseActionParameter(query: URLSearchParams): ActionParameter {
  const given = query.getAll("action");
  if (given.length === 0 || (given.length === 1 && given[0] === "")) return { kind: "start" };
  const [action = "", flowId = "", ...rest] = given.length === 1 ? (given[0]?.split("@") ?? []) : [];
  if (rest.length > 0 || !actionName.test(action) || !isUuid(flowId)) return { kind: "malformed" };
  return { kind: "action", action, flowId: flowId.toLowerCase() };
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
