import { type Condition, describe, namedIn } from "../conditions/condition.ts";
import { configLeaves } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import type { Action, View } from "./define.ts";
import { errors } from "./errors.ts";
import { declaredErrors, diagram, statesOf } from "./graph.ts";
import { actionInputs } from "./input-schemas.ts";
import { describeInputs } from "./inputs.ts";
import { flowTypes, type StateName, stateNames } from "./names.ts";
import { plannedSteps } from "./plan.ts";
import { states } from "./states/index.ts";
import type { InputDescriptor } from "./wire.ts";

/** Generates the reference pages of `docs/` from the declarations: file name → Markdown. */
export function reference(config: Config): Record<string, string> {
  return {
    "states.md": statesPage(config),
    "errors.md": errorsPage(),
    "configuration.md": configurationPage(),
  };
}

const note = "<!-- Made by `npm run docs` from the declarations. Change those. -->";

function statesPage(config: Config): string {
  const sections = stateNames.map((name) => stateSection(name, config));
  const diagrams = flowTypes.flatMap((flow) => [
    `## The flow \`${flow}\``,
    "",
    "```mermaid",
    diagram(flow),
    "```",
    "",
    "| The plan names | if |",
    "|---|---|",
    ...plannedSteps[flow].map(({ state, when }) => `| ${code(state)} | ${conditionOf(when)} |`),
    "",
  ]);
  return [
    note,
    "# States",
    "",
    "Targets: `NEXT` is the next state that the account and the configuration require, drawn as `plan`. `STAY` is the same state, `BACK` the previous one. `PROOF` is the login state in which a signed-in user reauthenticates, drawn as `proof`. `back` and `skip` are not drawn. A plan names the states whose conditions hold, in the order of its table, and ends at the one that identifies the user.",
    "",
    ...diagrams,
    "## Named conditions",
    "",
    "| | if |",
    "|---|---|",
    ...[...new Map(namedConditions().map((named) => [named.holds, named.part]))].map(
      ([clause, part]) => `| ${clause} | ${conditionOf(part)} |`,
    ),
    "",
    ...sections.flat(),
  ].join("\n");
}

function stateSection(name: StateName, config: Config): string[] {
  const flows = flowTypes.filter((flow) => statesOf(flow).includes(name));
  const rows = actionInputs(name, config).map(({ action, description, aliases, input }) => {
    const { to, errors: codes, when } = states[name].actions[action] as Action;
    const { inputs } = describeInputs(input);
    const takes = Object.values(inputs).map(describeInput).join(", ") || "nothing";
    const names = [action, ...aliases].map(code).join(" or ");
    return `| ${names} | ${description} | ${conditionOf(when)} | ${takes} | ${[...to].map(code).join(", ")} | ${[...codes].map(code).join(", ") || "none"} |`;
  });
  return [
    `## \`${name}\``,
    "",
    `In ${flows.map(code).join(" and ")}.`,
    "",
    ...(rows.length > 0
      ? ["| Action | | Offered if | Takes | Leads to | Errors |", "|---|---|---|---|---|---|", ...rows]
      : ["The flow has ended; nothing can be called."]),
    "",
  ];
}

function describeInput({ name, type, required, min_length, max_length }: InputDescriptor): string {
  const bounds =
    min_length === undefined && max_length === undefined
      ? ""
      : `, ${min_length ?? 0} to ${max_length ?? "∞"}`;
  return `\`${name}\` (${type}${required ? "" : ", optional"}${bounds})`;
}

function errorsPage(): string {
  const declared = declaredErrors();
  const rows = Object.entries(errors).map(([name, definition]) => {
    const { status, on, message } = definition;
    const published = "published" in definition ? code(definition.published) : "";
    const returnedBy = declared
      .filter((error) => error.code === name)
      .map(({ state, action }) => `\`${action}\` in \`${state}\``);
    return `| \`${name}\` | ${status} | ${on} | ${message} | ${published} | ${returnedBy.join("; ") || "any request"} |`;
  });
  return [
    note,
    "# Errors",
    "",
    'A flow error is reported on the answer. An input error is reported on its input, together with the flow error `form_data_invalid_error`. With `compatibility.error_codes` `published`, the default, REST sends a code that published components have no words for as the one in the column "Sent as".',
    "",
    "| Code | Status | Reported on | Message | Sent as | Returned by |",
    "|---|---|---|---|---|---|",
    ...rows,
    "",
  ].join("\n");
}

/** A description, of which Markdown takes nothing for a tag. */
const prose = (text: string): string => text.replaceAll("<", "\\<");

function configurationPage(): string {
  const rows = configLeaves().map(
    (leaf) =>
      `| \`${leaf.path.join(".")}\` | \`${leaf.variable}\` | ${leaf.default === undefined ? "" : code(JSON.stringify(leaf.default))} | ${leaf.accepts} | ${prose(leaf.description)} |`,
  );
  return [
    note,
    "# Configuration",
    "",
    "Sources, later wins: defaults, `stile.config.json`, environment. Durations are written `90s`, `5m`, `12h`, `30d`, or as seconds; their bounds are in seconds. Lists in the environment are comma separated, or a JSON array.",
    "",
    "| In `stile.config.json` | In the environment | Default | Accepts | |",
    "|---|---|---|---|---|",
    ...rows,
    "",
  ].join("\n");
}

/** The conditions that plans and actions name. */
const namedConditions = () =>
  [
    ...flowTypes.flatMap((flow) => plannedSteps[flow].map(({ when }) => when as Condition<View>)),
    ...stateNames.flatMap((name) => Object.values<Action>(states[name].actions).map(({ when }) => when)),
  ].flatMap((condition) => namedIn(condition));

/** What a condition asks for, as a clause. */
const conditionOf = (condition: Condition<never>) => describe(condition) ?? "always";

const code = (text: string) => `\`${text}\``;
