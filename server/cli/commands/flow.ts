import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../../config/schema.ts";
import { thisRelease } from "../../database/releases.ts";
import { flowTypes } from "../../flow/names.ts";
import type { FlowObject, StepObject } from "../../recorder/flow-object.ts";
import {
  listRecordedFlows,
  type RecordedFlow,
  readRecordedFlow,
  readRecordedWithSettings,
} from "../../recorder/recorded-flows.ts";
import { inGroups, parseSupportNumber } from "../../recorder/written-support-number.ts";
import type { Replayed } from "../../replay/replay.ts";
import { type AtTenant, atTenant } from "../at-tenant.ts";
import { type Cli, CommandError, command, missing, UsageError } from "../command.ts";
import { escapeControls } from "../escape-controls.ts";
import { cannotBe, readBounded } from "../files.ts";
import { idOf, jsonOption, nameOf, tenantOption } from "../options.ts";
import { settingsIn, withSource } from "../settings-file.ts";
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
      const only = await onlyFlow(cli, at, named);
      if (!only) return;
      // Loaded here because no other command needs the state machine.
      const { flowWithSteps } = await import("../../recorder/flow-object.ts");
      const found = await readRecordedFlow(at.runtime.database.read, at.tenant, only.id);
      if (!found) throw missing("recorded flow", named);
      const shown = flowWithSteps(found);
      if (json) return cli.print(JSON.stringify(shown));
      for (const line of [...headOf(shown), ...pathOf(shown.path)]) await cli.print(line);
    });
  },
});

export const flowExport = command({
  name: "flow export",
  summary: "Print what a flow was decided by, as a bundle for stile flow replay.",
  details:
    "Takes the id of the flow or its support number. The bundle is JSON: the settings, what the steps were decided by, and\nwhat was answered. It has no secret, no value that a user entered, and no text of the settings.",
  takes: ["id|support-number"],
  options: { tenant: tenantOption },
  async run(cli, { tenant }, [named = ""]) {
    await atTenant(cli, tenant, async (at) => {
      const only = await onlyFlow(cli, at, named);
      if (!only) return;
      const { bundleOf } = await import("../../replay/bundle.ts");
      const found = await readRecordedWithSettings(at.runtime.database.read, at.tenant, only.id);
      if (!found) throw missing("recorded flow", named);
      const result = bundleOf(found, thisRelease().version);
      if ("fault" in result) throw new CommandError(result.fault);
      await cli.print(JSON.stringify(result.bundle, null, 1));
    });
  },
});

export const flowReplay = command({
  name: "flow replay",
  summary: "Perform recorded flows again with this version, and print how they differ.",
  details: [
    "Takes a bundle of stile flow export. The engine of this version judges each step by what was recorded of it, in",
    "memory: no database is used, and nothing is sent. Prints the first difference, and what decided then and now. With",
    "--config, the flow is performed against that configuration in place of the recorded one; the environment counts too.",
    "With --all, each .json file of a folder is a bundle, and gets one line. The exit code is 1 if a flow differs, or a",
    "bundle cannot be read.",
  ].join("\n"),
  takes: ["bundle?"],
  options: {
    all: { description: "Perform each bundle of this folder again.", value: "folder" },
    config: { description: "A stile.config.json, or - for standard input.", value: "file" },
    json: jsonOption,
  },
  async run(cli, { all: folder, config: file, json }, [bundle]) {
    if ((folder === undefined) === (bundle === undefined))
      throw new UsageError("flow replay takes a bundle, or --all with a folder");
    const config =
      file === undefined
        ? undefined
        : await withSource("--config", file, async () => cli.config(await settingsIn(cli.input, file)));
    if (folder !== undefined) return replayAll(cli, folder, { config, json });
    const replayed = await replayFile(bundle ?? "", config);
    if (json) await printJson(cli, replayed);
    else {
      const { lineOfReplay, linesOfDifference } = await import("../../replay/difference-text.ts");
      const lines = replayed.first ? linesOfDifference(replayed.first) : [lineOfReplay(replayed)];
      for (const line of lines) await cli.print(escapeControls(line));
    }
    if (replayed.first) throw new CommandError("the flow differs");
  },
});

/** What a replay is printed as in JSON: the same as the administration interface shows. */
async function printJson(cli: Cli, replayed: Replayed, bundle?: string): Promise<void> {
  const { replayedObject } = await import("../../replay/replayed-object.ts");
  await cli.print(JSON.stringify({ ...(bundle ? { bundle } : {}), ...replayedObject(replayed) }));
}

async function replayFile(file: string, config: Config | undefined): Promise<Replayed> {
  // Loaded here because no other command needs the state machine.
  const { MAX_BUNDLE_CHARACTERS, parseBundle } = await import("../../replay/bundle.ts");
  const { replay } = await import("../../replay/replay.ts");
  const read = parseBundle(await readBounded(file, MAX_BUNDLE_CHARACTERS));
  if ("fault" in read) throw new CommandError(`${file}: ${read.fault}`);
  return replay(read.bundle, config);
}

async function replayAll(
  cli: Cli,
  folder: string,
  { config, json }: { config: Config | undefined; json: boolean },
): Promise<void> {
  const { lineOfReplay } = await import("../../replay/difference-text.ts");
  const found = await readdir(folder).catch(cannotBe("read", folder));
  const files = found.filter((name) => name.endsWith(".json")).toSorted();
  if (files.length === 0) throw new CommandError(`${folder} has no bundle`);
  let failed = 0;
  for (const name of files) {
    try {
      const replayed = await replayFile(join(folder, name), config);
      if (replayed.first) failed += 1;
      if (json) await printJson(cli, replayed, name);
      else await cli.print(escapeControls(`${name}: ${lineOfReplay(replayed)}`));
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      failed += 1;
      await cli.print(
        json
          ? JSON.stringify({ bundle: name, fault: error.message })
          : escapeControls(`${name}: ${error.message}`),
      );
    }
  }
  if (failed > 0) throw new CommandError(`${failed} of ${files.length} bundles differ, or cannot be read`);
}

/** The flow that an argument names; null if several have its number, which are printed. */
async function onlyFlow(cli: Cli, at: AtTenant, named: string): Promise<RecordedFlow | null> {
  const flows = await flowsOf(at, named);
  const [only, ...others] = flows;
  if (only === undefined) throw missing("recorded flow", named);
  if (others.length === 0) return only;
  const { flowObject } = await import("../../recorder/flow-object.ts");
  await cli.print(`Several flows have the number ${named}:`);
  await printTable(cli, flows.map(flowObject), {
    id: "id",
    type: "type",
    state: "state",
    started: "started_at",
  });
  return null;
}

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

/** The reason of a failure, where the audit log names one. */
const because = ({ reason }: StepObject) => (reason === null ? "" : ` (${reason.name})`);

/** A row for each step, and below the last one what was not offered after it. */
function pathOf(path: readonly StepObject[]): string[] {
  const rows = path.map((step) => [
    step.at,
    step.from ?? "-",
    step.action ?? "-",
    step.error === null ? step.verdict : `${step.verdict}: ${step.error}${because(step)}`,
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
