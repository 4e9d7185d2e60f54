import type { ActionWords, FlowWords, InputWords, StateWords, Variant } from "#words/flow";

/** Closes the gaps of a text. A gap without a value stays empty. */
export function interpolate(text: string, values: Record<string, string | number | undefined>): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ""));
}

/** What a name says to a reader when no words are known for it: `confirm_home_address` is "Confirm home address". */
export function readable(name: string): string {
  const spaced = name.replace(/[_-]+/g, " ").trim();
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}

export function stateWords(words: FlowWords, name: string, variants: readonly Variant[] = []): StateWords {
  const known = entry<StateWords>(words.states, name) ?? { title: readable(name) };
  return Object.assign({}, known, ...variants.map((variant) => known.variants?.[variant]));
}

/**
 * Words of an action; for an unknown one those the server describes it with.
 *
 * @param here words of the state it stands in, which may say something more particular
 */
export function actionWords(
  words: FlowWords,
  name: string,
  description: string,
  here?: StateWords,
): ActionWords {
  const known = entry<ActionWords>(here?.actions ?? {}, name) ?? entry<ActionWords>(words.actions, name);
  if (known) return known;
  return description ? { label: readable(name), hint: description } : { label: readable(name) };
}

export function inputWords(words: FlowWords, name: string): InputWords {
  return entry<InputWords>(words.inputs, name) ?? { label: readable(name) };
}

/** The text for an error, most particular first: for this input or state, for this code, the server's own message. */
export function errorText(
  words: FlowWords,
  error: { code: string; message?: string },
  input?: { name: string; min_length?: number; max_length?: number },
  here?: StateWords,
): string {
  const particular = entry<string>(
    (input ? inputWords(words, input.name).errors : here?.errors) ?? {},
    error.code,
  );
  const text = particular ?? entry<string>(words.errors, error.code);
  if (text === undefined) return error.message || readable(error.code);
  return interpolate(text, { min: input?.min_length, max: input?.max_length });
}

function entry<Value>(table: Partial<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
