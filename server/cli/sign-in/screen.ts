import type { LanguageWords } from "#words/language-words";
import { variantsOf } from "../../../components/flow/variants.ts";
import {
  actionWords,
  errorText,
  inputLabel,
  interpolate,
  lengthOfTime,
  stateWords,
} from "../../../components/flow/words.ts";
import type { ActionDescriptor, FlowState, InputDescriptor } from "../../flow/wire.ts";
import { qrCodeText } from "../../lib/qr-text.ts";
import { escapeControls } from "../escape-controls.ts";

/** Something that can be done in a state: an action, or one value of an action's choice. */
export interface Choice {
  label: string;
  hint?: string;
  action: ActionDescriptor;
  /** Values that the choice fixes. */
  fixed: Record<string, unknown>;
  /** Inputs to ask for. */
  asked: InputDescriptor[];
}

/** What a terminal shows of a state. */
export interface Screen {
  /** Texts above the question. */
  lines: string[];
  choices: Choice[];
  /** The choice whose first input is asked for at once; null for a menu. */
  first: Choice | null;
}

/**
 * Whether an action redirects to an identity provider. The server completes such a sign-in only in the browser that began
 * it, so a terminal can name the address of the page and no more.
 */
export function leavesTerminal({ inputs }: ActionDescriptor): boolean {
  return Object.hasOwn(inputs, "redirect_to");
}

/** An action for those who lack what the state asks for. */
const LAST_RESORT = "recovery_code_validate";

/**
 * Draws any state as text, from its descriptors alone.
 *
 * @param subject the identifier that was entered
 * @param language BCP 47 tag of the words
 */
export function screenOf(
  state: FlowState,
  words: LanguageWords,
  subject: string | null,
  language: string,
): Screen {
  const copy = stateWords(words.flow, state.name, variantsOf(state, "login"));
  const actions = Object.values(state.actions).filter(({ alias_of }) => alias_of === undefined);
  const possible = actions.filter(isPossible);
  const choices = possible.flatMap((action) => choicesOf(action, words, state));
  const sentence = (subject !== null && copy.sentenceWithSubject) || copy.sentence;
  const values = {
    subject: escapeControls(subject ?? ""),
    time: lengthOfTime(state.payload.code_lifetime, language),
  };
  // Of a state without words, the title is its name.
  const title = escapeControls(copy.title);
  return {
    lines: [
      `${title}\n${"─".repeat([...title].length)}`,
      ...(sentence ? [interpolate(sentence, values)] : []),
      ...payloadLines(state, words),
      ...errorLines(state, words),
      ...(possible.length < actions.length ? [words.terminal.noPasskeys] : []),
    ],
    choices,
    first:
      choices.find(
        ({ asked: [input], action }) => input && !isToggle(action) && action.action !== LAST_RESORT,
      ) ?? null,
  };
}

/** A terminal has no WebAuthn: neither ceremonies nor what prepares them. */
function isPossible({ action, inputs }: ActionDescriptor): boolean {
  if (action.startsWith("webauthn_generate_")) return false;
  return Object.values(inputs).every(
    ({ type, required, hidden, name, value, allowed_values }) =>
      !required ||
      (type !== "json" &&
        (!hidden ||
          type === "boolean" ||
          name === "redirect_to" ||
          allowed_values !== undefined ||
          (value ?? null) !== null)),
  );
}

function choicesOf(action: ActionDescriptor, words: LanguageWords, state: FlowState): Choice[] {
  const copy = stateWords(words.flow, state.name);
  const own = actionWords(words.flow, action.action, action.description, copy);
  const label = escapeControls(own.label);
  const hint = escapeControls(own.hint ?? "");
  const inputs = Object.values(action.inputs);
  const preset = Object.fromEntries(
    inputs
      .filter(({ hidden, value }) => hidden && (value ?? null) !== null)
      .map(({ name, value }) => [name, value]),
  );
  const asked = inputs.filter(({ hidden }) => !hidden);
  const options = inputs.find(({ allowed_values, value }) => allowed_values && (value ?? null) === null);
  if (!options?.allowed_values) return [{ label, ...(hint ? { hint } : {}), action, fixed: preset, asked }];
  const rest = asked.filter((input) => input !== options);
  return options.allowed_values.map(({ name, value }) => ({
    label:
      options.name === "provider"
        ? interpolate(words.flow.page.continueWith, { provider: escapeControls(name) })
        : `${label}: ${escapeControls(name)}`,
    action,
    fixed: { ...preset, [options.name]: value },
    asked: rest,
  }));
}

/** Whether an action is a switch. */
function isToggle({ inputs }: ActionDescriptor): boolean {
  const visible = Object.values(inputs).filter(({ hidden }) => !hidden);
  return visible.length === 1 && visible[0]?.type === "boolean";
}

/** The label of an input, for a prompt. */
export function promptOf(input: InputDescriptor, words: LanguageWords): string {
  const label = escapeControls(inputLabel(words.flow, input.name, input.accepts));
  return input.required ? label : `${label} (${words.flow.page.optional})`;
}

/** What the payload tells the person: codes to scan, keys and recovery codes. */
export function payloadLines({ payload }: FlowState, words: LanguageWords): string[] {
  const { page } = words.flow;
  const pictures = Object.entries(payload).flatMap(([name, value]) =>
    name.endsWith("image_source") && typeof value === "string" ? [qrCodeText(value)] : [],
  );
  const { otp_secret: secret } = payload;
  const codes = Array.isArray(payload.recovery_codes) ? payload.recovery_codes.map(String) : [];
  return [
    ...pictures.filter((text) => text !== null),
    ...(typeof secret === "string"
      ? [`${page.secret}: ${escapeControls(secret).replace(/(.{4})(?=.)/g, "$1 ")}`]
      : []),
    ...(codes.length > 0
      ? [page.recoveryCodes, page.recoveryCodesSentence, ...codes.map((code) => `  ${escapeControls(code)}`)]
      : []),
  ];
}

/** The errors of a state, those of inputs first. */
export function errorLines(state: FlowState, words: LanguageWords): string[] {
  const { flow } = words;
  const copy = stateWords(flow, state.name, variantsOf(state, "login"));
  const ofInputs = Object.values(state.actions)
    .filter(({ alias_of }) => alias_of === undefined)
    .flatMap(({ inputs }) =>
      Object.values(inputs).flatMap((input) =>
        input.error ? [`! ${escapeControls(errorText(flow, input.error, input))}`] : [],
      ),
    );
  const own =
    state.error && ofInputs.length === 0
      ? [`! ${escapeControls(errorText(flow, state.error, undefined, copy))}`]
      : [];
  const seconds = state.payload.retry_after ?? state.payload.resend_after;
  const wait =
    state.error && typeof seconds === "number"
      ? [interpolate(flow.page.waitFor, { time: `${Math.ceil(seconds)} s` })]
      : [];
  return [...ofInputs, ...own, ...wait];
}
