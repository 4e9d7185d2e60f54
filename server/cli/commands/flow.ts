import { flowTypes } from "../../flow/names.ts";
import type { FlowObject, StepObject } from "../../recorder/flow-object.ts";
import { listRecordedFlows, readRecordedFlow } from "../../recorder/recorded-flows.ts";
import { inGroups, parseSupportNumber } from "../../recorder/written-support-number.ts";
import { type AtTenant, atTenant } from "../at-tenant.ts";
import { command, missing, UsageError } from "../command.ts";
import { escapeControls } from "../escape-controls.ts";
import { idOf, jsonOption, nameOf, tenantOption } from "../options.ts";
import { printTable, table } from "../table.ts";

export const flowGraph = command({
  name: "flow graph",
  summary: "Print the state machine as a diagram.",
  details: `Prints a Mermaid state diagram of a flow: ${flowTypes.join(", ")}; by default login.`,
  takes: ["flow?"],
  options: { json: { description: "All flows with their transitions and declared errors, as JSON." } },
  async run(cli, { json }, [named]) {
    // Loaded here because no other command needs the state machine.
    const { diagram, graph } = await import("../../flow/graph.ts");
    if (json && named === undefined) return cli.print(JSON.stringify(graph()));
    const flow = nameOf(named ?? "login", flowTypes, "a flow");
    await cli.print(json ? JSON.stringify(graph().flows[flow]) : diagram(flow));
  },
});

/** Flows that share a support number; more are not listed. */
const MAX_SAME_NUMBER = 20;

export const flowShow = command({
  name: "flow show",
  summary: "Print what happened in a flow: each step, what was not offered after it, and why.",
  details:
    "Takes the id of the flow, as the log has it, or the support number of its page. Steps are recorded while\nrecorder.enabled is on, without the values that users enter.",
  takes: ["id|support-number"],
  options: { tenant: tenantOption, json: jsonOption },
  async run(cli, { tenant, json }, [named = ""]) {
    await atTenant(cli, tenant, async (at) => {
      const flows = await flowsOf(at, named);
      const [only, ...others] = flows;
      if (only === undefined) throw missing("recorded flow", named);
      // Loaded here because no other command needs the state machine.
      const { flowWithSteps, flowObject } = await import("../../recorder/flow-object.ts");
      if (others.length > 0) {
        await cli.print(`Several flows have the number ${named}:`);
        return printTable(cli, flows.map(flowObject), {
          id: "id",
          type: "type",
          state: "state",
          started: "started_at",
        });
      }
      const found = await readRecordedFlow(at.runtime.database.read, at.tenant, only.id);
      if (!found) throw missing("recorded flow", named);
      const shown = flowWithSteps(found);
      if (json) return cli.print(JSON.stringify(shown));
      for (const line of [...headOf(shown), ...pathOf(shown.path)]) await cli.print(line);
    });
  },
});

/** The flow of an id, or those of a support number. @throws UsageError if the text is neither */
async function flowsOf({ runtime, tenant }: AtTenant, named: string) {
  const { read } = runtime.database;
  const id = idOf(named);
  if (id !== null) {
    const found = await readRecordedFlow(read, tenant, id);
    return found ? [found.flow] : [];
  }
  const supportNumber = parseSupportNumber(named);
  if (supportNumber === null)
    throw new UsageError(`${named} is neither the id of a flow nor a support number`);
  const page = { number: 1, size: MAX_SAME_NUMBER };
  return (await listRecordedFlows(read, tenant, { supportNumber }, page)).rows;
}

const headOf = (flow: FlowObject): string[] => [
  `${flow.type} ${flow.id} (support number ${inGroups(flow.support_number)})`,
  `${flow.outcome}${flow.state === null ? "" : ` in ${flow.state}`}, ${flow.steps} steps, started ${flow.started_at}${
    flow.user_id === null ? "" : `, about the account ${flow.user_id}`
  }`,
  "",
];

const heads = ["time", "from", "action", "verdict", "state", "ms", "client", "request"];

/** A row for each step, and below the last one what was not offered after it. */
function pathOf(path: readonly StepObject[]): string[] {
  const rows = path.map((step) => [
    step.at,
    step.from ?? "-",
    step.action ?? "-",
    step.error === null ? step.verdict : `${step.verdict}: ${step.error}`,
    step.state ?? "-",
    String(step.milliseconds.total),
    [step.client.browser, step.client.platform, step.client.embedding].filter(Boolean).join(" "),
    step.request_id,
  ]);
  const [head = "", ...lines] = table(heads, rows);
  return [head, ...path.flatMap((step, index) => [lines[index] ?? "", ...reasonsOf(step)])];
}

function reasonsOf({ not_offered: { actions, states } }: StepObject): string[] {
  const line = (what: string) => (item: StepObject["not_offered"]["actions"][number]) =>
    escapeControls(`    ${what} ${item.name}: ${item.reasons.map(({ sentence }) => sentence).join(" ")}`);
  return [...states.map(line("passed over")), ...actions.map(line("not offered"))];
}
