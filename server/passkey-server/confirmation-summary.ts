import { type TextPiece, visibleEnds } from "./visible-text.ts";

/** The members of transaction data that the confirmation page knows: a headline, and labels in the user's language. */
export interface Summary {
  /** `title`. */
  title: TextPiece[] | null;
  /** `amount`, with `currency` if both are given. */
  amount: TextPiece[] | null;
  /** `to` and `reference`, in this order. */
  labels: { label: SummaryLabel; value: TextPiece[] }[];
  /** `items`, each with the parts that it has. */
  items: SummaryItem[];
}

export type SummaryLabel = "to" | "reference";

export interface SummaryItem {
  title: TextPiece[];
  quantity: TextPiece[] | null;
  amount: TextPiece[] | null;
}

/** Longer texts are no headline or label. */
const MAX_LENGTH = 200;

/** The digits of a decimal that `Intl.NumberFormat` writes without rounding. */
const decimal = /^-?(?:0|[1-9]\d{0,14})(?:\.(\d{1,8}))?$/;

/** An alphabetic code of ISO 4217. */
const currencyCode = /^[A-Z]{3}$/;

type Members = Readonly<Record<string, unknown>>;

/**
 * Finds the known members of transaction data. A member of another type, or too long, is not known: it is never
 * converted or shortened.
 *
 * @param data as parsed from its canonical form
 * @param names the names of its members in canonical order
 * @param language BCP 47 tag of the page; amounts are written as is customary in it
 * @returns the summary, and `rest`: the names of all other members, in canonical order. The page has to show these too,
 *   so that the user signs nothing unseen.
 */
export function summaryOf(
  data: Members,
  names: readonly string[],
  language: string,
): { summary: Summary; rest: string[] } {
  const currency = isCurrency(data.currency) ? data.currency : null;
  const write = currency === null ? null : amountWriter(currency, language);
  const amount = amountOf(data.amount, write);
  const title = textOf(data.title);
  const items = itemsOf(data.items, write);
  const labels = (["to", "reference"] as const).flatMap((label) => {
    const value = textOf(data[label]);
    return value ? [{ label, value }] : [];
  });
  // A currency is shown with the amounts that it belongs to.
  const showsCurrency =
    currency !== null && (isDecimal(data.amount) || (items?.some((item) => item.amount) ?? false));
  const shown = new Set<string>([
    ...(title ? ["title"] : []),
    ...(amount ? ["amount"] : []),
    ...(showsCurrency ? ["currency"] : []),
    ...labels.map(({ label }) => label),
    ...(items ? ["items"] : []),
  ]);
  return {
    summary: { title, amount, labels, items: items ?? [] },
    rest: names.filter((name) => !shown.has(name)),
  };
}

function textOf(value: unknown): TextPiece[] | null {
  const isShort = typeof value === "string" && value.trim() !== "" && value.length <= MAX_LENGTH;
  return isShort ? visibleEnds(value) : null;
}

function isCurrency(value: unknown): value is string {
  return typeof value === "string" && currencyCode.test(value);
}

function isDecimal(value: unknown): boolean {
  return typeof value === "number"
    ? decimal.test(JSON.stringify(value))
    : typeof value === "string" && decimal.test(value);
}

/** Writes an exact decimal as an amount of money. */
type WriteAmount = (text: string, fractionDigits: number) => string;

/** A transaction may have hundreds of items, and making a format takes longer than using it. */
function amountWriter(currency: string, language: string): WriteAmount {
  const style = { style: "currency", currency } as const;
  const { minimumFractionDigits = 0 } = new Intl.NumberFormat(language, style).resolvedOptions();
  const formats = new Map<number, Intl.NumberFormat>();
  return (text, fractionDigits) => {
    const digits = Math.max(minimumFractionDigits, fractionDigits);
    const format =
      formats.get(digits) ??
      new Intl.NumberFormat(language, {
        ...style,
        minimumFractionDigits: digits,
        maximumFractionDigits: digits,
      });
    formats.set(digits, format);
    // A string keeps every digit (ECMA-402, 16.5.16 ToIntlMathematicalValue).
    return format.format(text as Intl.StringNumericLiteral);
  };
}

/**
 * An amount for the summary; null if it is not known.
 *
 * @param write null without a currency: the amount is shown as it is signed, since nothing says what its digits mean
 */
function amountOf(value: unknown, write: WriteAmount | null): TextPiece[] | null {
  if (typeof value !== "number" && typeof value !== "string") return null;
  const text = typeof value === "number" ? JSON.stringify(value) : value;
  const [isExact, fraction = ""] = decimal.exec(text) ?? [];
  if (write === null || isExact === undefined) return textOf(text);
  return [{ text: write(text, fraction.length) }];
}

/** All items, or null if one of them has another shape: then the list is shown as it is signed. */
function itemsOf(value: unknown, write: WriteAmount | null): SummaryItem[] | null {
  if (!Array.isArray(value) || value.length === 0) return null;
  const items = value.map((item) => itemOf(item, write));
  return items.every((item) => item !== null) ? items : null;
}

function itemOf(value: unknown, write: WriteAmount | null): SummaryItem | null {
  if (typeof value === "string") {
    const title = textOf(value);
    return title && { title, quantity: null, amount: null };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const { title: titleValue, quantity: quantityValue, amount: amountValue, ...others } = value as Members;
  const title = textOf(titleValue);
  const quantity = isDecimal(quantityValue) ? textOf(String(quantityValue)) : null;
  const amount = amountOf(amountValue, write);
  const isKnown =
    title !== null &&
    Object.keys(others).length === 0 &&
    (quantityValue === undefined || quantity !== null) &&
    (amountValue === undefined || amount !== null);
  return isKnown ? { title, quantity, amount } : null;
}
