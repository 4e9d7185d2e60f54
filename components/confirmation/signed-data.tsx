import type { ConfirmationWords } from "#words/confirmation";
import { interpolate } from "../flow/words.ts";
import { Icon } from "../ui/icon.tsx";

/** A run of text, or one invisible character by its code point. */
export type TextPiece = { text: string } | { hidden: string; breaks?: true };

/** The transaction data, split by the server for display. */
export type DataNode =
  | { kind: "text"; pieces: TextPiece[] }
  | { kind: "number"; text: string }
  | { kind: "boolean"; value: boolean }
  | { kind: "nothing" }
  | { kind: "list"; items: DataNode[] }
  | { kind: "object"; members: { name: TextPiece[]; value: DataNode }[] };

interface WithWords {
  words: ConfirmationWords;
}

/** Transaction data as it is signed. Its content cannot change how anything else is drawn. */
export function Value({ node, words }: WithWords & { node: DataNode }) {
  if (node.kind === "text" && node.pieces.length > 0) return <Text pieces={node.pieces} words={words} />;
  if (node.kind === "number") return <span className="stile-agreement-number">{node.text}</span>;
  if (node.kind === "boolean") return node.value ? words.yes : words.no;
  if (node.kind === "list" && node.items.length > 0) {
    return (
      <ol className="stile-agreement-list">
        {node.items.map((item, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes
          <li key={place}>
            <Value node={item} words={words} />
          </li>
        ))}
      </ol>
    );
  }
  if (node.kind === "object" && node.members.length > 0) {
    return (
      <dl className="stile-agreement-members">
        {node.members.map(({ name, value }, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the members never change
          <div key={place} data-deep={isDeep(value) || undefined}>
            <dt>{name.length > 0 ? <Text pieces={name} words={words} /> : <Soft>{words.empty}</Soft>}</dt>
            <dd>
              <Value node={value} words={words} />
            </dd>
          </div>
        ))}
      </dl>
    );
  }
  return <Soft>{node.kind === "nothing" ? words.nothing : words.empty}</Soft>;
}

/** Whether a value takes more than one line. */
function isDeep(node: DataNode): boolean {
  return (
    (node.kind === "list" && node.items.length > 0) || (node.kind === "object" && node.members.length > 0)
  );
}

function Soft({ children }: { children: string }) {
  return <span className="stile-agreement-soft">{children}</span>;
}

/** Draws text; each run has its own direction and does not affect others. */
export function Text({ pieces, words }: WithWords & { pieces: TextPiece[] }) {
  return pieces.map((piece, place) => {
    if ("text" in piece) {
      return (
        // biome-ignore lint/suspicious/noArrayIndexKey: the text never changes
        <bdi key={place} className="stile-agreement-text">
          {piece.text}
        </bdi>
      );
    }
    const description = interpolate(words.unseen, { code: piece.hidden });
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: the text never changes
      <span key={place}>
        <bdi className="stile-unseen" title={description}>
          <span aria-hidden="true">{piece.breaks ? "↵" : piece.hidden}</span>
          <span className="stile-hidden">{` ${description} `}</span>
        </bdi>
        {piece.breaks && <br />}
      </span>
    );
  });
}

/** The exact text that is hashed, behind a disclosure. */
export function ExactText({ id, pieces, words }: WithWords & { id: TextPiece[]; pieces: TextPiece[] }) {
  return (
    <details className="stile-disclosure stile-agreement-exact">
      <summary className="stile-button stile-button-link">
        <Icon name="eye" />
        <span className="stile-button-text">{words.exact}</span>
      </summary>
      <div className="stile-disclosure-body">
        <p>{words.exactSentence}</p>
        <code dir="ltr">
          <Text pieces={id} words={words} />
        </code>
        <code dir="ltr">
          <Text pieces={pieces} words={words} />
        </code>
      </div>
    </details>
  );
}
