import { type Summary, summaryOf } from "./confirmation-summary.ts";
import { type TextPiece, visibleEnds, visiblePieces } from "./visible-text.ts";

/** Transaction data as the page draws it: every member in signed order, every invisible character made visible. */
export type DataNode =
  | { kind: "text"; pieces: TextPiece[] }
  /** In canonical form, so that equal numbers look equal. */
  | { kind: "number"; text: string }
  | { kind: "boolean"; value: boolean }
  | { kind: "nothing" }
  | { kind: "list"; items: DataNode[] }
  | { kind: "object"; members: { name: TextPiece[]; value: DataNode }[] };

export interface DataView {
  /** The application's id of the transaction, which is signed too. */
  transactionId: TextPiece[];
  summary: Summary;
  /** The members that the summary does not show; null without any. */
  rest: DataNode | null;
  /** The exact text that is hashed. */
  exact: TextPiece[];
  /** Whether id or data contain invisible characters. */
  hides: boolean;
}

/**
 * @param canonical an object in the canonical form of RFC 8785
 * @param language BCP 47 tag of the page
 */
export function dataView(id: string, canonical: string, language: string): DataView {
  const transactionId = visibleEnds(id);
  // Split at string literals, so that right-to-left text cannot reorder its surroundings.
  const exact = (canonical.match(/"(?:[^"\\]|\\.)*"|[^"]+/gs) ?? []).flatMap(visiblePieces);
  const data: Readonly<Record<string, unknown>> = JSON.parse(canonical);
  const names = namesOf(data);
  const { summary, rest } = summaryOf(data, names, language);
  // The parts are checked, because the exact text escapes control characters.
  return {
    transactionId,
    summary,
    // An empty object is shown as such.
    rest: rest.length > 0 || names.length === 0 ? objectNode(data, rest) : null,
    exact,
    hides: hasInvisiblePiece(transactionId) || hasInvisibleCharacters(objectNode(data, names)),
  };
}

function nodeOf(value: unknown): DataNode {
  if (typeof value === "string") return { kind: "text", pieces: visibleEnds(value) };
  if (typeof value === "number") return { kind: "number", text: JSON.stringify(value) };
  if (typeof value === "boolean") return { kind: "boolean", value };
  if (Array.isArray(value)) return { kind: "list", items: value.map(nodeOf) };
  if (value === null) return { kind: "nothing" };
  return objectNode(value as Record<string, unknown>, namesOf(value as object));
}

function objectNode(value: Readonly<Record<string, unknown>>, names: readonly string[]): DataNode {
  const members = names.map((name) => ({ name: visibleEnds(name), value: nodeOf(value[name]) }));
  return { kind: "object", members };
}

/** Engines list numeric names first; the canonical form sorts all names as text. */
function namesOf(value: object): string[] {
  return Object.keys(value).sort();
}

/** Line feeds are drawn, so they do not count. */
function hasInvisiblePiece(pieces: readonly TextPiece[]): boolean {
  return pieces.some((piece) => "hidden" in piece && !piece.breaks);
}

function hasInvisibleCharacters(node: DataNode): boolean {
  if (node.kind === "text") return hasInvisiblePiece(node.pieces);
  if (node.kind === "list") return node.items.some(hasInvisibleCharacters);
  return (
    node.kind === "object" &&
    node.members.some(({ name, value }) => hasInvisiblePiece(name) || hasInvisibleCharacters(value))
  );
}
