import type { ActionDescriptor, FlowError, InputDescriptor } from "#server/flow/wire";
import { isChoice, presetOf } from "./action-layout.ts";
import type { PageValues } from "./view-context.ts";

/**
 * The `input_data` of an action from its form. Hidden inputs have their preset or the value that the page fills in;
 * empty inputs are left out.
 */
export function inputData(
  action: ActionDescriptor,
  form: FormData,
  pageValues: PageValues = {},
): Record<string, unknown> {
  const entries = Object.values(action.inputs).map((input): [string, unknown] => [
    input.name,
    entered(input, form, pageValues),
  ]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function entered(input: InputDescriptor, form: FormData, pageValues: PageValues): unknown {
  if (input.hidden && !isChoice(input, pageValues)) return presetOf(input, pageValues) ?? undefined;
  if (input.type === "boolean") return form.get(input.name) === "true";
  const text = form.get(input.name);
  if (typeof text !== "string" || text === "") return undefined;
  const allowed = input.allowed_values?.find(({ value }) => formValue(value) === text);
  if (allowed) return allowed.value;
  if (input.type === "number") return Number(text);
  return input.type === "json" ? parseOrText(text) : text;
}

/** A value as a form field. */
export function formValue(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** Errors that the page finds before it asks the server, as the server's codes. */
export function inputErrorsOf(action: ActionDescriptor, form: HTMLFormElement): Record<string, FlowError> {
  const inputErrors: Record<string, FlowError> = {};
  for (const input of Object.values(action.inputs)) {
    const control = form.elements.namedItem(input.name);
    if (input.hidden || !isControl(control)) continue;
    const code = inputErrorOf(input, control);
    if (code) inputErrors[input.name] = { code, message: control.validationMessage };
  }
  return inputErrors;
}

function inputErrorOf(input: InputDescriptor, { validity, value }: Control): string | null {
  if (validity.valueMissing) return "value_missing_error";
  if (value === "") return null;
  if (validity.typeMismatch || validity.badInput) return "value_invalid_error";
  // A lenient count of code units and code points; the server counts exactly.
  if (input.min_length !== undefined && value.length < input.min_length) return "value_too_short_error";
  if (input.max_length !== undefined && [...value].length > input.max_length) return "value_too_long_error";
  return input.type === "json" && parseOrText(value) === value ? "not_json" : null;
}

type Control = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

function isControl(control: Element | RadioNodeList | null): control is Control {
  return control instanceof Element && "validity" in control;
}

function parseOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
