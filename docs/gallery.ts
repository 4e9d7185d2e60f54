import { loadConfig } from "../server/config/load.ts";
import { errors } from "../server/flow/errors.ts";
import { statesOf } from "../server/flow/graph.ts";
import { actionInputs } from "../server/flow/input-schemas.ts";
import { describeInputs } from "../server/flow/inputs.ts";
import { flowTypes, type StateName, stateNames } from "../server/flow/names.ts";
import type { ActionDescriptor } from "../server/flow/wire.ts";

const config = loadConfig({}, import.meta.dirname);

/**
 * The file `components/gallery/declared.json`, of which the gallery makes its pictures: the actions of every state, as the
 * server describes them with the default settings, and the errors. A page of the gallery imports nothing of the server.
 *
 * @returns JSON: a line for each state and for each error
 */
export function galleryDeclarations(): string {
  const states = stateNames.map((name) => [name, { flow: flowOf(name), actions: describeActions(name) }]);
  const known = Object.entries(errors).map(([code, { on, status, message }]) => [
    code,
    { on, status, message },
  ]);
  return `{\n"states": {\n${lines(states)}\n},\n"errors": {\n${lines(known)}\n}\n}\n`;
}

/** The flow in which a state is drawn. */
const flowOf = (name: StateName) => flowTypes.find((flow) => statesOf(flow).includes(name));

function describeActions(state: StateName): Omit<ActionDescriptor, "href">[] {
  return actionInputs(state, config).flatMap(({ action, description, aliases, input }) => {
    const { inputs, preserved } = describeInputs(input);
    const shown = preserved.map((name) => [name, { ...inputs[name], value: null }]);
    const described = { action, description, inputs: { ...inputs, ...Object.fromEntries(shown) } };
    return [described, ...aliases.map((alias) => ({ ...described, action: alias, alias_of: action }))];
  });
}

const lines = (members: unknown[][]) =>
  members.map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`).join(",\n");
