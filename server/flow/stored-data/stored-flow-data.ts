import { z } from "zod";
import { type FlowData, type FlowRecord, flowData, type HistoryEntry, historyEntry } from "../data.ts";
import { type ErrorCode, errors, isInputError, type StepError } from "../errors.ts";
import { stateNames } from "../names.ts";
import { states } from "../states/index.ts";
import { FORMAT_OF_0_2, fromRelease02, hidesSecretsOf02, type UnvalidatedFlow } from "./release-0-2.ts";
import { isUnknownTo03 } from "./release-0-3.ts";

/** The format that this version stores flows in. A change of `flowData` that a former version reads wrong raises it. */
export const FLOW_FORMAT = 3;

/**
 * The number of the format, and the oldest format whose versions read the flow right. Stored inside of the data: a
 * former version drops what it does not know, so what it wrote last never bears a later number.
 */
const mark = z.object({
  format: z.int().default(FORMAT_OF_0_2),
  readableFrom: z.int().default(FORMAT_OF_0_2),
});

/** Content of the columns `data` and `history`. */
export interface StoredFlowData {
  data: object;
  history: object[];
}

/**
 * Returns what is stored of a flow. Servers of the former release may step it next, unless it says that they cannot
 * (decision 62).
 */
export function toStoredData({
  state,
  data,
  history,
}: Pick<FlowRecord, "state" | "data" | "history">): StoredFlowData {
  return {
    data: {
      ...withoutEmpty(data),
      ...(isUnknownTo03({ state, data }) ? { readableFrom: FLOW_FORMAT } : {}),
      format: FLOW_FORMAT,
    },
    history: history.map((entry) => ({ state: entry.state, data: withoutEmpty(entry.data) })),
  };
}

/** Members that every version reads as empty if they are absent. */
const emptyByDefault = ["factors", "completedStates", "pending"];

function withoutEmpty(data: Record<string, unknown>): object {
  const isEmpty = (name: string) => Object.values(data[name] ?? {}).every((value) => value === undefined);
  return Object.fromEntries(
    Object.entries(data).filter(([name]) => !(emptyByDefault.includes(name) && isEmpty(name))),
  );
}

/** Why a stored flow cannot go on here. */
export type UnreadableFlow =
  /** A later version stored it in a format that this one does not know. */
  | { reason: "newer"; format: number }
  /** It is none that any version stores. `detail` names no value. */
  | { reason: "malformed"; detail: string };

export type ReadFlowData =
  | {
      ok: true;
      state: FlowRecord["state"];
      data: FlowData;
      history: HistoryEntry[];
      payload: Record<string, unknown>;
      error: StepError | null;
      /** Whether the columns are in the format that this version writes. */
      hasPresentFormat: boolean;
      /** Whether the sealed members of the payload are not shown any more. */
      hidesSecrets: boolean;
    }
  | ({ ok: false } & UnreadableFlow);

const content = z.object({
  state: z.enum(stateNames),
  data: flowData,
  history: historyEntry.array(),
  payload: z.record(z.string(), z.unknown()),
});

/** Reads a flow that this version, a former or a later one has stored, and validates it. */
export function readStoredData(row: UnvalidatedFlow & { payload: unknown; problem: unknown }): ReadFlowData {
  const marked = mark.safeParse(row.data);
  if (!marked.success) return malformed(marked.error);
  const { format, readableFrom } = marked.data;
  if (readableFrom > FLOW_FORMAT) return { ok: false, reason: "newer", format };
  const isOf02 = format === FORMAT_OF_0_2;
  const stored = isOf02 ? fromRelease02(row) : row;
  // In another state the payload would be that of the former one.
  const payload = stored.state === row.state ? row.payload : {};
  const parsed = content.safeParse({ ...stored, payload });
  if (!parsed.success) return malformed(parsed.error);
  const { state, data } = parsed.data;
  const missing = states[state].needs.filter((key) => data[key] === undefined);
  if (missing.length > 0)
    return { ok: false, reason: "malformed", detail: `${state} lacks ${missing.join(", ")}` };
  return {
    ok: true,
    ...parsed.data,
    error: readError(row.problem),
    hasPresentFormat: format === FLOW_FORMAT,
    hidesSecrets: isOf02 && hidesSecretsOf02(state),
  };
}

const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(errors, code);

const codeOf = (on: "flow" | "input") =>
  z.string().refine((code) => isErrorCode(code) && isInputError(code) === (on === "input"));

const stepError = z.object({
  code: codeOf("flow"),
  inputs: z
    .record(z.string(), z.object({ code: codeOf("input"), message: z.string().exactOptional() }))
    .exactOptional(),
  action: z.string().exactOptional(),
  entering: z.literal(true).exactOptional(),
  values: z.record(z.string(), z.unknown()).exactOptional(),
  payload: z.record(z.string(), z.unknown()).exactOptional(),
});

/** Reads the error of the last step. One that this version does not have is not repeated. */
function readError(problem: unknown): StepError | null {
  const parsed = stepError.safeParse(problem);
  return parsed.success ? (parsed.data as StepError) : null;
}

function malformed({ issues }: z.ZodError): { ok: false } & UnreadableFlow {
  const detail = issues.map(({ path, code }) => `${path.join(".")}: ${code}`).join("; ");
  return { ok: false, reason: "malformed", detail };
}
