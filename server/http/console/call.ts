import type { Tenant } from "../../config/tenant.ts";
import { changesBetween } from "../../console/changes.ts";
import type { ConsoleVisitor } from "../../console/console-sessions.ts";
import { namedRole, roleOfAddress, strongestRole } from "../../console/grants.ts";
import { recordChange } from "../../console/record-change.ts";
import { type ConsoleRole, mayAs } from "../../identity/console-roles.ts";
import type { Runtime } from "../../runtime.ts";
import { adminAddresses } from "../admin/addresses.ts";
import type { Reply } from "../answer/reply.ts";
import type { Address, CallInput, Operation } from "../table/address.ts";
import { clientContext, type HandlerContext } from "../table/handler-context.ts";

/**
 * Calls of the administration interface by accounts of the console. Each operation of the interface is one procedure here; its
 * role is declared in its row, so that no procedure can be without one.
 */

/** An operation of the administration interface, as the console calls it. */
export interface ConsoleOperation {
  row: Address & Required<Pick<Address, "call">>;
  operation: Operation & { role: ConsoleRole };
  /** Names of the segments of its path. */
  segments: string[];
  isRead: boolean;
  /** The operation that reads what this one changes; null where nothing reads it. */
  reading: ConsoleOperation | null;
}

const segmentsOf = (path: string) => [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);

/** Whether an operation answers with a page of a list. */
export const isList = ({ operation }: ConsoleOperation): boolean => {
  const answer = operation.answers[200];
  return typeof answer === "object" && answer.headers?.["X-Total-Count"] !== undefined;
};

/** Every operation by its id. */
export const consoleOperations: ReadonlyMap<string, ConsoleOperation> = withReadings(
  new Map(
    adminAddresses.map((row) => {
      const { operation, call, path, method } = row;
      if (!operation?.role || !call) throw new Error(`${method} ${path} has no role`);
      const declared: ConsoleOperation = {
        row: { ...row, call },
        operation: { ...operation, role: operation.role },
        segments: segmentsOf(path),
        isRead: method === "GET" || operation.changesNothing === true,
        reading: null,
      };
      return [operation.id, declared];
    }),
  ),
);

/** Finds for each change the read of the same thing, or of the nearest above it. */
function withReadings(operations: Map<string, ConsoleOperation>): Map<string, ConsoleOperation> {
  const reads = new Map(
    [...operations.values()].filter(({ row }) => row.method === "GET").map((read) => [read.row.path, read]),
  );
  for (const change of operations.values()) {
    if (change.isRead) continue;
    const parts = change.row.path.split("/");
    const above = parts.map((_, index) => parts.slice(0, parts.length - index).join("/"));
    change.reading =
      above.map((path) => reads.get(path)).find((read) => read !== undefined && !isList(read)) ?? null;
  }
  return operations;
}

/** What a procedure takes: the tenant, the segments of the path by name, and query and body as JSON. */
export type ProcedureInput = Record<string, unknown> & { tenant?: unknown; query?: unknown; body?: unknown };

/** Why a call was not made. */
export type CallRefusal = "signed_out" | "forbidden" | "not_found" | "step_up_required" | "key_required";

/**
 * Calls an operation for an account of the console.
 *
 * @param context of the request
 * @param visitor null if the request is not signed in
 * @returns the answer of the operation, or why it was not called
 */
export async function callOperation(
  context: HandlerContext,
  visitor: ConsoleVisitor | null,
  called: ConsoleOperation,
  input: ProcedureInput,
): Promise<Reply | Response | { refused: CallRefusal }> {
  const { runtime } = context;
  if (!visitor) return { refused: "signed_out" };
  const { row, operation, isRead } = called;
  const tenant = await reachableTenant(runtime, visitor, input.tenant);
  if (!tenant) return { refused: "not_found" };
  if (operation.keysOnly) return { refused: "key_required" };
  if (!mayAs(visitor.role, neededRole(runtime, tenant, operation))) return { refused: "forbidden" };
  const { tenantId, userId } = visitor;
  const own: HandlerContext = {
    ...context,
    tenant,
    visitor,
    client: { ...context.client, operator: { tenantId, userId } },
  };
  const given = inputOf(called, input);
  // What a change reads before and after it, it reads at the primary.
  if (isRead) return row.call({ ...own, position: visitor.position }, given);
  if (!isFresh(runtime, visitor)) return { refused: "step_up_required" };
  if (!(await mayChange(runtime, tenant, visitor, called, given))) return { refused: "forbidden" };
  const before = await readingOf(called, own, input);
  const answer = await row.call(own, given);
  if (answer.status >= 400) return answer;
  await recordMadeChange(own, called, input, before);
  return answer;
}

/**
 * Records a change that is made. An error here does not turn what was done into a failure: it is logged. The answer of the
 * change is not told: it may hold a secret that is shown once.
 */
async function recordMadeChange(
  context: HandlerContext,
  called: ConsoleOperation,
  input: ProcedureInput,
  before: unknown,
): Promise<void> {
  const { id: operation } = called.operation;
  const logged = (message: string) => (error: unknown) =>
    context.runtime.log.error({ err: error, operation, request_id: context.client.requestId }, message);
  const isOfUser = called.reading?.row.path.startsWith("/admin/users") ?? false;
  const changes = await readingOf(called, context, input).then(
    (after) => changesBetween(before, after, { tellsTexts: !isOfUser }),
    (error) => {
      logged("what a change of the console has changed was not read")(error);
      return ["not read"];
    },
  );
  const of = called.segments.map((name) => String(input[name]));
  await recordChange(await clientContext(context), { operation, of, changes }).catch(
    logged("a change of the console is not in the audit log"),
  );
}

/** An operator reaches every tenant, any other account its own. */
async function reachableTenant(
  { tenant, tenants }: Runtime,
  { role, tenantId }: ConsoleVisitor,
  asked: unknown = tenantId,
): Promise<Tenant | null> {
  if (typeof asked !== "string" || !/^[0-9a-f-]{36}$/.test(asked)) return null;
  if (asked !== tenantId && role !== "operator") return null;
  return asked === tenant.id ? tenant : tenants.byId(asked);
}

const neededRole = (
  { tenant: defaultTenant }: Runtime,
  { id }: Tenant,
  { role, roleAtDefaultTenant = role }: ConsoleOperation["operation"],
) => (id === defaultTenant.id ? roleAtDefaultTenant : role);

/** A change asks for a sign-in that is not long ago. */
const isFresh = ({ config }: Runtime, { authenticatedAt, now }: ConsoleVisitor) =>
  now.getTime() - authenticatedAt.getTime() <= config.console.step_up_after * 1000;

/** An account changes no account with a stronger role, whose place it could take, and makes none. */
async function mayChange(
  runtime: Runtime,
  tenant: Tenant,
  visitor: ConsoleVisitor,
  { row, operation }: ConsoleOperation,
  given: CallInput,
): Promise<boolean> {
  const ofPath = row.path.startsWith("/admin/users/{id}") ? [given.params.id] : [];
  const concerned = operation.concerns?.(given) ?? ofPath;
  const ids = concerned.filter((id) => typeof id === "string");
  const named = namedRole(runtime, tenant, given.body);
  if (named !== null && !mayAs(visitor.role, named)) return false;
  const verified = await roleOfAddress(runtime, tenant, operation.verifies?.(given));
  if (verified !== null && !mayAs(visitor.role, verified)) return false;
  const strongest = await strongestRole(runtime.database.write, runtime, tenant, ids);
  return strongest === null || mayAs(visitor.role, strongest);
}

function inputOf({ segments }: ConsoleOperation, input: ProcedureInput): CallInput {
  const params = Object.fromEntries(segments.map((name) => [name, input[name]]));
  return { params, query: input.query ?? {}, body: input.body ?? {} };
}

/** What the resource of a change looks like now; null if it cannot be read. */
async function readingOf(
  { reading }: ConsoleOperation,
  context: HandlerContext,
  input: ProcedureInput,
): Promise<unknown> {
  if (!reading) return null;
  const answer = await reading.row.call(context, { ...inputOf(reading, input), query: {} });
  return answer instanceof Response || answer.status !== 200 ? null : parsed(answer);
}

/** The body of an answer; null for one without. */
export const parsed = ({ body }: Reply): unknown =>
  body === undefined || body === "" ? null : JSON.parse(body);
