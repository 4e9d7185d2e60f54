import type { InputDescriptor } from "../../flow/wire.ts";
import { parseJson } from "../../lib/strict-json.ts";

/** Fields that name the flow, the action, the account shown and the browser, and are not input. */
const envelopeFields = ["flow", "action", "version", "account", "with_script", "with_choice"];

/**
 * Reads the inputs of an action from a url-encoded form. A form has only strings: each is converted to the type of its
 * descriptor. A value that does not fit its type, or that no descriptor declares, stays a string, which the engine
 * rejects.
 *
 * An empty field counts as absent. Browsers do not send an unchecked box: it is false. The last of several fields with
 * one name counts.
 *
 * @param inputs the action's descriptors; empty if the action is not offered
 */
export function readForm(
  form: URLSearchParams,
  inputs: Readonly<Record<string, InputDescriptor>>,
): Record<string, unknown> {
  // A browser sends no box that is not ticked, and a form shows no hidden one.
  const unchecked = Object.values(inputs)
    .filter(({ type, hidden, value }) => type === "boolean" && (!hidden || value === false))
    .map(({ name }): [string, unknown] => [name, false]);
  const entered = [...form]
    .filter(([name, text]) => !envelopeFields.includes(name) && text !== "")
    .map(([name, text]): [string, unknown] => [
      name,
      typed(text, Object.hasOwn(inputs, name) ? inputs[name] : undefined),
    ]);
  return Object.fromEntries([...unchecked, ...entered]);
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
