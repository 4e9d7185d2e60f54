import { messages } from "./en/messages.ts";
import type { FlowWords } from "./flow.ts";

/** Names of states, actions, inputs and errors that only accounts with phone numbers meet. */
const ofNumbers = /(?:^|_)(?:phone|sms)(?:_|$)/;

/** Names of the texts of pages that the server sends in place of a flow. */
const ofMessages = new Set(Object.keys(messages));

const prepared = {
  withNumbers: new WeakMap<FlowWords, FlowWords>(),
  others: new WeakMap<FlowWords, FlowWords>(),
};

/**
 * Returns the words that a page of a tenant has use for: each page carries them, and its first answer should arrive
 * without waiting for an acknowledgement (RFC 6928).
 */
export function wordsInUse(words: FlowWords, { phone }: { phone: { enabled: boolean } }): FlowWords {
  const made = prepared[phone.enabled ? "withNumbers" : "others"];
  const known = made.get(words);
  if (known) return known;
  const used = { ...words, page: without(words.page, (name) => ofMessages.has(name)) };
  const shown = phone.enabled ? used : { ...used, ...withoutNumbers(words) };
  made.set(words, shown);
  return shown;
}

function withoutNumbers({ states, actions, afterProof, inputs, errors }: FlowWords) {
  const isOfNumbers = (name: string) => ofNumbers.test(name);
  return {
    states: without(states, isOfNumbers),
    actions: without(actions, isOfNumbers),
    afterProof: without(afterProof, isOfNumbers),
    inputs: without(inputs, isOfNumbers),
    errors: without(errors, isOfNumbers),
  };
}

function without<Entries extends object>(entries: Entries, isUnused: (name: string) => boolean): Entries {
  return Object.fromEntries(Object.entries(entries).filter(([name]) => !isUnused(name))) as Entries;
}
