import type { ActionWords, FlowWords, InputWords, StateWords, Variant } from "#words/flow";

/** Replaces the placeholders of a text. A placeholder without a value becomes empty. */
export function interpolate(text: string, values: Record<string, string | number | undefined>): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ""));
}

/** A number of seconds in words, in whole minutes where it has any: "5 minutes". */
export function lengthOfTime(seconds: unknown, language: string): string {
  const total = typeof seconds === "number" ? seconds : 0;
  const [value, unit] = total >= 60 ? [Math.floor(total / 60), "minute"] : [total, "second"];
  return new Intl.NumberFormat(language, { style: "unit", unit, unitDisplay: "long" }).format(value);
}

/** A readable form of an unknown name: `confirm_home_address` is "Confirm home address". */
export function readable(name: string): string {
  const spaced = name.replace(/[_-]+/g, " ").trim();
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}

export function stateWords(words: FlowWords, name: string, variants: readonly Variant[] = []): StateWords {
  const found = entry<StateWords>(words.states, name) ?? { title: readable(name) };
  return Object.assign({}, found, ...variants.map((variant) => found.variants?.[variant]));
}

/**
 * The words of an action; for an unknown action, the server's description.
 *
 * @param copy words of the current state, which can replace the general ones
 */
export function actionWords(
  words: FlowWords,
  name: string,
  description: string,
  copy?: StateWords,
): ActionWords {
  const found = entry<ActionWords>(copy?.actions ?? {}, name) ?? entry<ActionWords>(words.actions, name);
  if (found) return found;
  return description ? { label: readable(name), hint: description } : { label: readable(name) };
}

/** What follows a re-authentication for an action; null for an unknown one. */
export function afterProof(words: FlowWords, action: unknown): string | null {
  return typeof action === "string" ? (entry<string>(words.afterProof, action) ?? null) : null;
}

export function inputWords(words: FlowWords, name: string): InputWords {
  return entry<InputWords>(words.inputs, name) ?? { label: readable(name) };
}

/** The label of an input; of one that takes several kinds of identifier, those of the kinds. */
export function inputLabel(words: FlowWords, name: string, accepts: readonly string[] = [name]): string {
  return accepts.map((kind) => inputWords(words, kind).label).join(" / ");
}

/** The text of an error, most specific first: of this input or state, of the code, the server's own message. */
export function errorText(
  words: FlowWords,
  error: { code: string; detail_code?: string; message?: string },
  input?: { name: string; min_length?: number; max_length?: number },
  copy?: StateWords,
): string {
  const code = codeOf(error);
  const particular = entry<string>((input ? inputWords(words, input.name).errors : copy?.errors) ?? {}, code);
  const text = particular ?? entry<string>(words.errors, code);
  if (text === undefined) return error.message || readable(code);
  return interpolate(text, { min: input?.min_length, max: input?.max_length });
}

/** The precise code of an error: `code` may be one that older clients know in its place. */
export function codeOf({ code, detail_code }: { code: string; detail_code?: string }): string {
  return detail_code ?? code;
}

function entry<Value>(table: Partial<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
