import type { ConfirmationEnd } from "#words/confirmation";
import type { ConfirmationProps } from "../confirmation/confirmation.tsx";
import type { Question } from "../confirmation/question-view.tsx";
import type { TextPiece } from "../confirmation/signed-data.tsx";

const text = (words: string): TextPiece[] => [{ text: words }];

const question = (more: Partial<Question> = {}): { question: Question } => ({
  question: {
    token: "the-token",
    application: "Heron Books",
    user: { name: "ada@example.org", displayName: "Ada Lovelace" },
    transactionId: text("order-4711"),
    summary: {
      title: text("Order 4711"),
      amount: text("€1,249.50"),
      labels: [
        { label: "to", value: text("Heron Books Ltd") },
        { label: "reference", value: text("RF18 5390 0754 7034") },
      ],
      items: [
        { title: text("Flora of the fens"), quantity: text("2"), amount: text("€64.00") },
        { title: text("Field glasses"), quantity: null, amount: text("€1,121.50") },
      ],
    },
    rest: null,
    exact: text('{"amount":"1249.50","currency":"EUR","title":"Order 4711"}'),
    hides: false,
    returnsTo: "shop.example",
    options: { challenge: "ZE5PUGVYRlRYWnR5b3VzdGlsZWNoYWxsZW5nZQ", timeout: 300_000, rpId: "localhost" },
    ...more,
  },
});

const end = (reached: ConfirmationEnd): { end: ConfirmationEnd } => ({ end: reached });

/** Every picture of the page on which a user confirms a transaction. An end without one does not compile. */
export const confirmations = {
  confirmation_question: question(),
  confirmation_question_without_a_summary: question({
    summary: { title: null, amount: null, labels: [], items: [] },
    rest: {
      kind: "object",
      members: [
        { name: text("purpose"), value: { kind: "text", pieces: text("Rotate the signing key") } },
        { name: text("approvals"), value: { kind: "number", text: "2" } },
        { name: text("urgent"), value: { kind: "boolean", value: true } },
        { name: text("note"), value: { kind: "nothing" } },
        {
          name: text("hosts"),
          value: {
            kind: "list",
            items: [
              { kind: "text", pieces: text("alpha.internal.example") },
              { kind: "text", pieces: text("beta.internal.example") },
            ],
          },
        },
      ],
    },
  }),
  confirmation_question_with_more: question({
    rest: {
      kind: "object",
      members: [{ name: text("delivery"), value: { kind: "text", pieces: text("By bicycle, on Tuesday") } }],
    },
  }),
  confirmation_question_that_hides: question({
    hides: true,
    summary: {
      title: [{ text: "Order " }, { hidden: "U+202E" }, { text: "4711" }, { hidden: "U+000A", breaks: true }],
      amount: null,
      labels: [],
      items: [],
    },
  }),
  confirmation_answered_confirmed: {
    answered: { token: "the-token", end: "confirmed", returnsTo: "shop.example" },
  },
  confirmation_answered_declined: {
    answered: { token: "the-token", end: "declined", returnsTo: "shop.example" },
  },
  confirmation_end_confirmed: end("confirmed"),
  confirmation_end_declined: end("declined"),
  confirmation_end_expired: end("expired"),
  confirmation_end_answered: end("answered"),
  confirmation_end_unknown: end("unknown"),
} satisfies Record<`confirmation_end_${ConfirmationEnd}`, ConfirmationProps["content"]> &
  Record<string, ConfirmationProps["content"]>;
