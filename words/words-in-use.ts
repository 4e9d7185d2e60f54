import { messages } from "./en/messages.ts";
import type { FlowWords } from "./flow.ts";

/** Names of states, actions, inputs and errors that only accounts with phone numbers meet. */
const ofNumbers = /(?:^|_)(?:phone|sms)(?:_|$)/;

/** Names of the texts of pages that the server sends in place of a flow. */
const ofMessages = new Set(Object.keys(messages));

/** Names of states, actions and inputs that only users of the OpenID provider meet. */
const ofApplications =
  /^(?:consent|application|device_code|user_code|account_(?:choice|choose|other|forget)|(?:chosen|forgotten)_account)_/;

/** By what is on. */
const prepared = new Map<string, WeakMap<FlowWords, FlowWords>>();

/** What decides which words a page may need. */
type Features = Record<"phone" | "openid", { enabled: boolean }>;

/**
 * Returns the words that a page of a tenant has use for: each page carries them, and its first answer should arrive
 * without waiting for an acknowledgement (RFC 6928).
 */
export function wordsInUse(words: FlowWords, { phone, openid }: Features): FlowWords {
  const features = `${phone.enabled} ${openid.enabled}`;
  const made = prepared.get(features) ?? new WeakMap<FlowWords, FlowWords>();
  prepared.set(features, made);
  const known = made.get(words);
  if (known) return known;
  const used = { ...words, page: without(words.page, (name) => ofMessages.has(name)) };
  const withPhone = phone.enabled ? used : { ...used, ...withoutNumbers(used) };
  const shown = openid.enabled ? withPhone : { ...withPhone, ...withoutApplications(withPhone) };
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

function withoutApplications({ states, actions, inputs, authorization }: FlowWords) {
  const isOfApplications = (name: string) => ofApplications.test(`${name}_`);
  return {
    states: without(states, isOfApplications),
    actions: without(actions, isOfApplications),
    inputs: without(inputs, isOfApplications),
    authorization: without(authorization, () => true),
  };
}

function without<Entries extends object>(entries: Entries, isUnused: (name: string) => boolean): Entries {
  return Object.fromEntries(Object.entries(entries).filter(([name]) => !isUnused(name))) as Entries;
}
