import { z } from "zod";
import { loadConfig } from "../../config/load.ts";
import type { Config } from "../../config/schema.ts";
import { startCapabilities } from "../../flow/capabilities.ts";
import { statesOf } from "../../flow/graph.ts";
import { type ActionInput, actionInputs } from "../../flow/input-schemas.ts";
import { type FlowType, flowTypes, type StateName, stateNames } from "../../flow/names.ts";
import { codeChallengePattern } from "../../lib/pkce.ts";
import { requestOptions } from "../passkeys/schemas.ts";
import { actionName } from "./request.ts";

/** Schemas of the flow interface for the document, made from the declarations of the states. */

const flowError = z
  .object({
    code: z.string().describe("docs/reference/errors.md lists the codes."),
    detail_code: z.string().optional().describe("The precise code, for our own page."),
    message: z.string(),
    cause: z.string().optional(),
  })
  .meta({ id: "FlowError" });

const inputDescriptor = z
  .object({
    name: z.string(),
    type: z.enum(["string", "boolean", "email", "tel", "number", "password", "json"]),
    required: z.boolean().optional(),
    hidden: z.boolean().optional().describe("Not filled in by the user."),
    min_length: z.int().optional(),
    max_length: z.int().optional(),
    accepts: z
      .array(z.enum(["email", "username", "phone"]))
      .optional()
      .describe("The kinds of identifier that are accepted; absent without phone numbers."),
    charset: z.literal("alphanumeric").optional().describe("Of a one-time code; digits if absent."),
    value: z.unknown().optional(),
    allowed_values: z.array(z.object({ name: z.string(), value: z.unknown() })).optional(),
    error: flowError.optional(),
  })
  .meta({ id: "InputDescriptor" });

const actionDescriptor = z
  .object({
    action: z.string(),
    href: z.string().describe("Relative to the base address: `/login?action=back%40<flow id>`."),
    description: z.string(),
    alias_of: z.string().optional().describe("The action that this one is another name of."),
    inputs: z.record(z.string(), inputDescriptor),
  })
  .meta({ id: "ActionDescriptor" });

const flowLink = z
  .object({
    name: z.string(),
    href: z.string(),
    category: z.enum(["legal", "oauth", "other"]),
    target: z.enum(["_self", "_blank", "_parent", "_top"]),
  })
  .meta({ id: "FlowLink" });

/** Members of every state. */
const stateMembers = {
  status: z.int().describe("Equals the status of the answer."),
  payload: z.record(z.string(), z.unknown()),
  csrf_token: z.string().describe("For the next request. Valid once."),
  error: flowError.optional(),
  links: z.array(flowLink).nullable(),
};

const pascal = (name: string) =>
  name
    .split("_")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");

/**
 * The name of one state. It is a component: generated Go tells the states of an answer apart by the type of their names,
 * and makes no type of a constant in its place.
 */
const stateName = <Name extends string>(name: Name) =>
  z.literal(name).meta({ id: `${pascal(name)}StateName` });

/** The state that answers where no action is possible. */
const errorState = z
  .object({
    name: stateName("error"),
    ...stateMembers,
    error: flowError,
    actions: z.strictObject({}),
  })
  .meta({ id: "ErrorState" });

function stateSchema(name: StateName, config: Config) {
  const actions = actionInputs(name, config).flatMap(({ action, aliases }) => [action, ...aliases]);
  return z
    .object({
      name: stateName(name),
      ...stateMembers,
      actions: z.strictObject(
        Object.fromEntries(actions.map((action) => [action, actionDescriptor.optional()])),
      ),
    })
    .meta({ id: `${pascal(name)}State` });
}

/** Gives every state and every input one schema, so that flows share the components of the document. */
function declarations() {
  const config = loadConfig({}, "/nowhere");
  const shown = new Map(stateNames.map((name) => [name, stateSchema(name, config)]));
  const inputs = new Map<string, z.ZodType>();
  const byState = new Map<StateName, z.ZodType[]>();
  for (const state of stateNames)
    byState.set(
      state,
      actionInputs(state, config).map((declared) => inputSchema(declared, inputs)),
    );
  return { shown, byState };
}

/** The schema of an input as a component, named by its action; actions of one name with one input share it. */
function inputSchema({ action, state, description, input }: ActionInput, known: Map<string, z.ZodType>) {
  if (Object.keys(input.shape).length === 0) return noInput;
  const shape = JSON.stringify(z.toJSONSchema(input, { io: "input", unrepresentable: "any" }));
  const same = known.get(`${action} ${shape}`);
  if (same) return same;
  const taken = [...known.keys()].some((key) => key.startsWith(`${action} `));
  const id = `${pascal(action)}${taken ? `In${pascal(state)}` : ""}Input`;
  const schema = input.meta({ id, description: `\`${action}\`: ${description}` });
  known.set(`${action} ${shape}`, schema);
  return schema;
}

/** Null is part of this one, for the whole union: generators of Python reject a union with null. */
const noInput = z
  .strictObject({})
  .nullable()
  .meta({ id: "NoInput", description: "Actions without input. Null counts as absent." });

let made: ReturnType<typeof declarations> | undefined;

function declared() {
  made ??= declarations();
  return made;
}

/** The states that a flow answers with, by their names. */
export const flowState = (type: FlowType) =>
  z
    .lazy(() => {
      const states = statesOf(type).flatMap((name) => declared().shown.get(name) ?? []);
      return z.discriminatedUnion("name", [errorState, ...states]);
    })
    .meta({ id: `${pascal(type)}FlowState` });

/** Any state of any flow. */
export const anyFlowState = z
  .lazy(() => z.discriminatedUnion("name", [errorState, ...declared().shown.values()]))
  .meta({ id: "FlowState" });

/** The body of a request that performs an action, or of one that starts a flow. */
export const flowRequest = (type: FlowType) =>
  z
    .lazy(() => {
      const inputs = new Set(statesOf(type).flatMap((name) => declared().byState.get(name) ?? []));
      const input = z
        .union([...inputs] as [z.ZodType, ...z.ZodType[]])
        .meta({
          id: `${pascal(type)}Input`,
          description:
            "The input of the action, under the default settings; the inputs of the state tell those of the tenant.",
        })
        .optional();
      const action = z
        .strictObject({
          csrf_token: z.string().optional().describe("The token of the last answer."),
          input_data: input,
        })
        .meta({ id: `${pascal(type)}ActionRequest`, description: "Performs the action of the address." });
      const start = z
        .strictObject({
          capabilities: startCapabilities
            .optional()
            .describe("Of the browser: the flow begins after `preflight`. A missing one is false."),
          action: z
            .string()
            .regex(actionName)
            .optional()
            .describe(
              "An action of the first state, with which the flow begins. The answer is that of the action.",
            ),
          input,
        })
        .meta({
          id: `${pascal(type)}StartRequest`,
          description:
            "Starts a flow, without `action` in the address. A member that is null counts as missing.",
        });
      return z.union([action, start]);
    })
    .meta({ id: `${pascal(type)}Request` });

/** What `GET /login/request_options` answers. */
export const unstartedOptions = z
  .object({ request_options: requestOptions })
  .meta({ id: "UnstartedRequestOptions" });

/** `flow.current` over tRPC. */
export const pageFlowInput = z.strictObject({ type: z.enum(flowTypes) });

const pageCapabilities = startCapabilities
  .optional()
  .describe("Capabilities of the browser, with a call that may start a flow. Absent: all false.");

const pageCodeChallenge = z
  .string()
  .regex(codeChallengePattern)
  .optional()
  .describe(
    "S256 challenge (RFC 7636, 4.2), with a call that may start a flow that signs in: `success` then has `authorization_code` in its payload, for `POST /token`, and sets no session cookie.",
  );

/** `flow.start` over tRPC. */
export const pageStartInput = z.strictObject({
  type: z.enum(flowTypes),
  capabilities: pageCapabilities,
  code_challenge: pageCodeChallenge,
});

/** `flow.continue` over tRPC. */
export const movedFlowInput = z.strictObject({
  type: z.enum(flowTypes),
  token: z.string().min(1).max(4096).describe("As `flow.move` sealed it. Valid once."),
});

/** `flow.act` over tRPC. The order is that in which faults are reported. */
export const pageActionInput = z.strictObject({
  action: z.string().min(1).max(64),
  version: z.int().min(0).describe("Version of the displayed state."),
  input: z.record(z.string(), z.unknown()),
  type: z.enum(flowTypes),
  account: z
    .uuid()
    .optional()
    .describe("Id of the account that the page shows, with a call that may start its profile flow."),
  capabilities: pageCapabilities,
  code_challenge: pageCodeChallenge,
});
