import type { InputDescriptor } from "../../flow/wire.ts";
import { parseJson } from "../../lib/strict-json.ts";

/** Fields of a form that say what it is, not what it enters. */
const envelope = ["flow", "action", "version"];

/**
 * The inputs of an action from a url-encoded form, which knows only strings: each is given the type that its
 * descriptor names. What does not fit its type stays a string, for the engine to refuse; so does a field that is
 * not declared.
 *
 * An empty field counts as absent. So does a box that is not ticked, which browsers do not send: it is false. Of
 * fields with one name the last counts.
 *
 * @param inputs the action's descriptors; empty when the action is not offered
 */
export function readForm(
  form: URLSearchParams,
  inputs: Readonly<Record<string, InputDescriptor>>,
): Record<string, unknown> {
  const unticked = Object.values(inputs)
    .filter((input) => input.type === "boolean" && !input.hidden)
    .map(({ name }): [string, unknown] => [name, false]);
  const entered = [...form]
    .filter(([name, text]) => !envelope.includes(name) && text !== "")
    .map(([name, text]): [string, unknown] => [
      name,
      typed(text, Object.hasOwn(inputs, name) ? inputs[name] : undefined),
    ]);
  return Object.fromEntries([...unticked, ...entered]);
}

function typed(text: string, input: InputDescriptor | undefined): unknown {
  const allowed = input?.allowed_values?.find(({ value }) => String(value) === text);
  if (allowed) return allowed.value;
  switch (input?.type) {
    case "boolean":
      return text === "true" || text === "on" ? true : text === "false" ? false : text;
    case "number":
      return Number.isFinite(Number(text)) ? Number(text) : text;
    case "json":
      return parseJson(text) ?? text;
    default:
      return text;
  }
}
