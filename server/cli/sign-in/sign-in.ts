import type { LanguageWords } from "#words/language-words";
import type { FlowType } from "../../flow/names.ts";
import type { FlowState, InputDescriptor } from "../../flow/wire.ts";
import { CommandError } from "../command.ts";
import { escapeControls } from "../escape-controls.ts";
import { type FlowRequests, NoAnswerError } from "./flow-requests.ts";
import type { Prompter } from "./prompter.ts";
import { type Choice, errorLines, leavesTerminal, promptOf, screenOf } from "./screen.ts";

/** A sign-in at a terminal: the service, the language, and the person that is asked. */
export interface TerminalSignIn {
  base: string;
  type: FlowType;
  words: LanguageWords;
  /** BCP 47 tag of the words. */
  language: string;
  requests: FlowRequests;
  prompter: Prompter;
  say(text: string): void;
}

const CAPABILITIES = "register_client_capabilities";

/** Terminals have no WebAuthn, so no capability is there. */
const noCapabilities = {
  webauthn_available: false,
  webauthn_conditional_mediation_available: false,
  webauthn_platform_authenticator_available: false,
};

/**
 * Goes through a flow with the person at the terminal.
 *
 * @returns the state `success`
 * @throws CommandError if the flow cannot be completed here
 */
export async function signIn(dialogue: TerminalSignIn): Promise<FlowState> {
  const { requests, words, prompter, say, type } = dialogue;
  let subject: string | null = null;
  let state = await persistently(dialogue, () => requests.start(type, noCapabilities));
  for (;;) {
    if (state.name === "error" && Object.keys(state.actions).length === 0) {
      const lines = errorLines(state, words);
      if (!prompter.interactive || state.status === 429)
        throw new CommandError(lines.join(" ").replace(/^! /, ""));
      for (const line of lines) say(line);
      await menu(dialogue, [words.flow.page.startAgain]);
      subject = null;
      state = await persistently(dialogue, () => requests.start(type, noCapabilities));
      continue;
    }
    if (state.name === "success") return state;
    const from = state;
    const { action, input }: Answer = from.actions[CAPABILITIES]
      ? { action: CAPABILITIES, input: noCapabilities }
      : await ask(dialogue, from, subject);
    subject = identifierIn(input) ?? subject;
    state = await persistently(dialogue, () => requests.act(from, action, input));
  }
}

interface Answer {
  action: string;
  input: Record<string, unknown>;
}

/** Shows a state, and asks until something is to be done. */
async function ask(dialogue: TerminalSignIn, state: FlowState, subject: string | null): Promise<Answer> {
  const { words, language, say, prompter } = dialogue;
  const screen = screenOf(state, words, identifierOf(state) ?? subject, language);
  say("");
  for (const line of screen.lines) say(line);
  const { first } = screen;
  const others = screen.choices.filter((choice) => choice !== first);
  if (screen.choices.length === 0) throw new CommandError(words.flow.page.nothingToDo);
  if (first) {
    const filled = await fill(dialogue, first, others.length > 0);
    if (filled) return filled;
  }
  for (;;) {
    const offered = first ? [...others, first] : others;
    const chosen = offered[await menu(dialogue, offered.map(menuLine))] as Choice;
    if (leavesTerminal(chosen.action)) {
      say(words.terminal.openAddress);
      say(`  ${dialogue.base}/`);
      if (!prompter.interactive)
        throw new CommandError(`${escapeControls(chosen.action.action)} needs a browser`);
      continue;
    }
    const filled = await fill(dialogue, chosen, false);
    if (filled) return filled;
    if (!prompter.interactive)
      throw new CommandError(`${escapeControls(chosen.action.action)} needs an answer`);
  }
}

const menuLine = ({ label, hint }: Choice) => (hint ? `${label} – ${hint}` : label);

/** Asks for a number, until one of the list is given. Returns the index. */
async function menu({ words, say, prompter }: TerminalSignIn, labels: string[]): Promise<number> {
  for (const [index, label] of labels.entries()) say(`  ${index + 1}  ${label}`);
  const prompt = words.terminal.choose.replace("{default}", "1");
  for (;;) {
    const answer = (await prompter.ask(`${prompt}: `)).trim() || "1";
    const index = /^\d{1,3}$/.test(answer) ? Number(answer) - 1 : -1;
    if (index >= 0 && index < labels.length) return index;
    if (!prompter.interactive)
      throw new CommandError(`${escapeControls(answer)} is not one of the ${labels.length} choices`);
  }
}

/**
 * Asks for the inputs of a choice.
 *
 * @param mayLeave whether an empty first answer leads to the other choices
 * @returns null if it was left
 */
async function fill(
  dialogue: TerminalSignIn,
  { action, fixed, asked }: Choice,
  mayLeave: boolean,
): Promise<Answer | null> {
  const input = { ...fixed };
  for (const [index, descriptor] of asked.entries()) {
    const value = await askFor(dialogue, descriptor, mayLeave && index === 0);
    if (value === undefined && descriptor.required) return null;
    if (value !== undefined) Object.assign(input, { [descriptor.name]: value });
  }
  return { action: action.action, input };
}

async function askFor(dialogue: TerminalSignIn, input: InputDescriptor, mayLeave: boolean): Promise<unknown> {
  const { words, prompter } = dialogue;
  const label = promptOf(input, words);
  if (input.type === "boolean") {
    dialogue.say(label);
    return (await menu(dialogue, [words.terminal.yes, words.terminal.no])) === 0;
  }
  const prompt = `${label}${mayLeave ? ` (${words.terminal.otherWays})` : ""}: `;
  const answer = await prompter.ask(prompt, input.type === "password");
  const text = input.type === "password" ? answer : answer.trim();
  if (text === "") return undefined;
  return input.type === "number" ? Number(text) : text;
}

/** Repeats a request that got no answer, as often as the person wants. */
async function persistently(dialogue: TerminalSignIn, request: () => Promise<FlowState>): Promise<FlowState> {
  const { words, say, prompter } = dialogue;
  for (;;) {
    try {
      return await request();
    } catch (error) {
      if (!(error instanceof NoAnswerError)) throw error;
      if (!prompter.interactive) throw new CommandError(error.message);
      say("");
      say(`! ${words.flow.errors.connection_missing} (${escapeControls(error.message)})`);
      await menu(dialogue, [words.flow.page.tryAgain]);
    }
  }
}

/** The identifier that the server says was entered. */
function identifierOf({ payload }: FlowState): string | null {
  return typeof payload.identifier === "string" ? payload.identifier : null;
}

function identifierIn(input: Record<string, unknown>): string | null {
  return [input.identifier, input.email, input.username].find((value) => typeof value === "string") ?? null;
}
