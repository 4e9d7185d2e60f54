import canonicalize from "canonicalize";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { summaryOf } from "./confirmation-summary.ts";
import { dataView } from "./confirmation-view.ts";

/** The summary of some data, its texts as strings. Invisible characters are in angle brackets. */
function read(data: object, language = "en") {
  const { summary, rest } = summaryOf(data as Record<string, unknown>, Object.keys(data).sort(), language);
  const line = (pieces: ({ text: string } | { hidden: string })[] | null) =>
    pieces === null
      ? null
      : pieces.map((piece) => ("text" in piece ? piece.text : `<${piece.hidden}>`)).join("");
  return {
    ...(summary.title ? { title: line(summary.title) } : {}),
    ...(summary.amount ? { amount: line(summary.amount) } : {}),
    ...Object.fromEntries(summary.labels.map(({ label, value }) => [label, line(value)])),
    ...(summary.items.length > 0
      ? { items: summary.items.map((item) => [line(item.quantity), line(item.title), line(item.amount)]) }
      : {}),
    rest,
  };
}

test("finds every member that the page knows", () => {
  const order = {
    title: "Order 17",
    amount: "149.90",
    currency: "EUR",
    to: "Bergmann & Söhne",
    reference: "R-17",
    items: ["Wrapping", { title: "Seven Herons", quantity: 2, amount: 99.9 }],
  };
  expect(read(order)).toEqual({
    title: "Order 17",
    amount: "€149.90",
    to: "Bergmann & Söhne",
    reference: "R-17",
    items: [
      [null, "Wrapping", null],
      ["2", "Seven Herons", "€99.90"],
    ],
    rest: [],
  });
});

describe("an amount", () => {
  test.each([
    [149.9, "EUR", "en", "€149.90"],
    ["149.9", "EUR", "de", "149,90\u00a0€"],
    ["1500", "JPY", "en", "¥1,500"],
    ["1500.5", "JPY", "en", "¥1,500.5"],
    ["0.12345678", "USD", "en", "$0.12345678"],
    ["999999999999999.99", "USD", "en", "$999,999,999,999,999.99"],
    ["-5", "GBP", "en", "-£5.00"],
    ["12", "XYZ", "en", "XYZ\u00a012.00"],
  ])("of %j %s is written with all its digits in %s", (amount, currency, language, written) => {
    expect(read({ amount, currency }, language)).toEqual({ amount: written, rest: [] });
  });

  test.each([
    ["149,90", "EUR"],
    ["1.234,56", "EUR"],
    ["1e3", "EUR"],
    ["007", "EUR"],
    ["149.90 EUR", "USD"],
    [1e21, "EUR"],
    ["0.123456789", "EUR"],
    ["1000000000000000", "EUR"],
    ["149.90", "eur"],
    ["149.90", "€"],
    ["149.90", 978],
  ])(
    "that cannot be read with certainty, as %j %j, is shown as it is signed, and so is the currency",
    (amount, currency) => {
      const shown = typeof amount === "string" ? amount : JSON.stringify(amount);
      expect(read({ amount, currency })).toEqual({ amount: shown, rest: ["currency"] });
    },
  );

  test("without a currency is shown as it is signed", () => {
    expect(read({ amount: 1500.5 }, "de")).toEqual({ amount: "1500.5", rest: [] });
  });
});

test("the amounts of many items are written with few formats", () => {
  const made = vi.spyOn(Intl, "NumberFormat");
  const items = Array.from({ length: 500 }, (_, at) => ({ title: "A heron", amount: at / 4 }));
  expect(summaryOf({ items, currency: "EUR" }, ["currency", "items"], "de").summary.items).toHaveLength(500);
  // One to learn the digits of the currency, and one for each number of digits.
  expect(made.mock.calls.length).toBeLessThanOrEqual(3);
  made.mockRestore();
});

test.each([
  [{ title: 17 }],
  [{ title: "" }],
  [{ title: " " }],
  [{ to: { name: "Grace" } }],
  [{ reference: "x".repeat(201) }],
  [{ currency: "EUR" }],
  [{ amount: { value: 1 } }],
  [{ items: [] }],
  [{ items: "Seven Herons" }],
  [{ items: ["Seven Herons", 2] }],
  [{ items: [{ title: "Seven Herons", count: 2 }] }],
  [{ items: [{ quantity: 2 }] }],
  [{ items: [{ title: "Seven Herons", quantity: "two" }] }],
  [{ items: [{ title: "Seven Herons", amount: null }] }],
  [{ Title: "Order 17" }],
])("%j is no member that the page knows, so it is shown as it is signed", (data) => {
  expect(read(data)).toEqual({ rest: Object.keys(data) });
});

test("A102 invisible characters of a known member are marked", () => {
  expect(read({ title: "pay\u202eyap" })).toEqual({ title: "pay<U+202E>yap", rest: [] });
  expect(dataView("order-1", '{"to":"Grace\u200b"}', "en").hides).toBe(true);
});

test("every member is in the summary or in the rest, whatever the data", () => {
  const known = fc.constantFrom("title", "amount", "currency", "to", "reference", "items", "more");
  fc.assert(
    fc.property(fc.dictionary(known, fc.jsonValue({ maxDepth: 3 })), (data) => {
      const { summary, rest } = dataView("order-1", String(canonicalize(data)), "en");
      const inRest = rest?.kind === "object" ? rest.members.map(({ name }) => JSON.stringify(name)) : [];
      const hasItemAmount = summary.items.some(({ amount }) => amount);
      const shown: Record<string, boolean> = {
        title: summary.title !== null,
        amount: summary.amount !== null,
        currency: summary.amount !== null || hasItemAmount,
        to: summary.labels.some(({ label }) => label === "to"),
        reference: summary.labels.some(({ label }) => label === "reference"),
        items: summary.items.length > 0,
      };
      for (const name of Object.keys(data))
        expect(shown[name] || inRest.includes(JSON.stringify([{ text: name }])), name).toBe(true);
    }),
  );
});
