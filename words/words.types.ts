/** Type tests: incomplete words must not compile. `tsc` reports an unused @ts-expect-error; nothing here runs. */

import { confirmation } from "./en/confirmation.ts";
import { flow } from "./en/flow.ts";
import { mail } from "./en/mail.ts";
import type { FlowWords } from "./flow.ts";
import type { LanguageWords } from "./language-words.ts";
import type { MailWords } from "./mail.ts";
import type { translations } from "./translations.ts";

const { login_init: _state, ...states } = flow.states;
// @ts-expect-error a state without words
export const withoutState: FlowWords["states"] = states;

const { skip: _action, ...actions } = flow.actions;
// @ts-expect-error an action without words
export const withoutAction: FlowWords["actions"] = actions;

const { email: _input, ...inputs } = flow.inputs;
// @ts-expect-error an input without words
export const withoutInput: FlowWords["inputs"] = inputs;

const { forbidden: _code, ...errors } = flow.errors;
// @ts-expect-error an error code without words
export const withoutError: FlowWords["errors"] = errors;

const { login: _message, ...messages } = mail.messages;
// @ts-expect-error a mail message without words
export const withoutMessage: MailWords["messages"] = messages;

// @ts-expect-error a language without mails
export const withoutMail: LanguageWords = { name: "English", flow, confirmation };

// @ts-expect-error a table without the row of a language
export const withoutRow: typeof translations = { en: { name: "English", flow, confirmation, mail } };
