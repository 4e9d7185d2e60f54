import type { FlowWords } from "./flow.ts";

/** Names of states, actions, inputs and errors that only accounts with phone numbers meet. */
const ofNumbers = /(?:^|_)(?:phone|sms)(?:_|$)/;

const prepared = new WeakMap<FlowWords, FlowWords>();

/**
 * Returns the words that a page of a tenant has use for: each page carries them, and its first answer should arrive
 * without waiting for an acknowledgement (RFC 6928).
 */
export function wordsInUse(words: FlowWords, { phone }: { phone: { enabled: boolean } }): FlowWords {
  if (phone.enabled) return words;
  const known = prepared.get(words);
  if (known) return known;
  const { states, actions, afterProof, inputs, errors } = words;
  const made = {
    ...words,
    states: withoutNumbers(states),
    actions: withoutNumbers(actions),
    afterProof: withoutNumbers(afterProof),
    inputs: withoutNumbers(inputs),
    errors: withoutNumbers(errors),
  };
  prepared.set(words, made);
  return made;
}

function withoutNumbers<Entries extends object>(entries: Entries): Entries {
  return Object.fromEntries(Object.entries(entries).filter(([name]) => !ofNumbers.test(name))) as Entries;
}
