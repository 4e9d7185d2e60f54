import { type TextPiece, visibleEnds, visiblePieces } from "./visible-text.ts";

/** Agreed data as a page draws it: every member, in the order that is signed, and every character that counts. */
export type DataNode =
  | { kind: "text"; pieces: TextPiece[] }
  /** Canonical, so that two spellings are not two amounts. */
  | { kind: "number"; text: string }
  | { kind: "boolean"; value: boolean }
  | { kind: "nothing" }
  | { kind: "list"; items: DataNode[] }
  | { kind: "object"; members: { name: TextPiece[]; value: DataNode }[] };

export interface DataView {
  /** The application's own id of the transaction, which is signed too. */
  transactionId: TextPiece[];
  data: DataNode;
  /** What is hashed, character by character. */
  exact: TextPiece[];
  /** Whether anything in id or data cannot be seen. */
  hides: boolean;
}

/** @param canonical an object in the canonical form of RFC 8785 */
export function dataView(id: string, canonical: string): DataView {
  const transactionId = visibleEnds(id);
  // Piece by piece, so that a text that runs the other way turns nothing but itself.
  const exact = (canonical.match(/"(?:[^"\\]|\\.)*"|[^"]+/gs) ?? []).flatMap(visiblePieces);
  const data = nodeOf(JSON.parse(canonical));
  // Controls are spelled out in the exact text, so the parts are asked.
  return {
    transactionId,
    data,
    exact,
    hides: hasInvisiblePiece(transactionId) || hasInvisibleCharacters(data),
  };
}

function nodeOf(value: unknown): DataNode {
  if (typeof value === "string") return { kind: "text", pieces: visibleEnds(value) };
  if (typeof value === "number") return { kind: "number", text: JSON.stringify(value) };
  if (typeof value === "boolean") return { kind: "boolean", value };
  if (Array.isArray(value)) return { kind: "list", items: value.map(nodeOf) };
  if (value === null) return { kind: "nothing" };
  // Engines list names that are numbers first; the canonical form sorts all of them as text.
  const names = Object.keys(value as object).sort();
  const members = names.map((name) => ({
    name: visibleEnds(name),
    value: nodeOf((value as Record<string, unknown>)[name]),
  }));
  return { kind: "object", members };
}

/** A line that ends is no secret. */
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
