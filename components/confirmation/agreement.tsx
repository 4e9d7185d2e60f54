import type { ReactNode } from "react";
import type { ConfirmationWords } from "#words/confirmation";
import { type DataNode, Text, type TextPiece, Value } from "./signed-data.tsx";

/** The members of the data that this page knows. */
export interface Summary {
  title: TextPiece[] | null;
  amount: TextPiece[] | null;
  labels: { label: "to" | "reference"; value: TextPiece[] }[];
  items: { title: TextPiece[]; quantity: TextPiece[] | null; amount: TextPiece[] | null }[];
}

interface AgreementProps {
  summary: Summary;
  /** The members that the summary does not show, under their own names. */
  rest: DataNode | null;
  words: ConfirmationWords;
}

/** What the user agrees to: the headline first, and every member of the data. */
export function Agreement({ summary, rest, words }: AgreementProps) {
  const { title, amount, labels, items } = summary;
  const text = (pieces: TextPiece[]) => <Text pieces={pieces} words={words} />;
  const hasMembers = labels.length > 0 || items.length > 0;
  const isSummarized = title !== null || amount !== null || hasMembers;
  return (
    <section className="stile-agreement" aria-label={words.agreement}>
      {(title || amount) && (
        <div className="stile-agreement-headline">
          {title && <h2 className="stile-agreement-title">{text(title)}</h2>}
          {amount && (
            <p className="stile-agreement-amount">
              <span className="stile-hidden">{words.members.amount} </span>
              {text(amount)}
            </p>
          )}
        </div>
      )}
      {hasMembers && (
        <dl className="stile-agreement-members">
          {labels.map(({ label, value }) => (
            <Member key={label} name={words.members[label]}>
              {text(value)}
            </Member>
          ))}
          {items.length > 0 && (
            <Member name={words.members.items} deep>
              <ul className="stile-agreement-items">
                {items.map((item, place) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes
                  <li key={place}>
                    <span>
                      {item.quantity && <>{text(item.quantity)} × </>}
                      {text(item.title)}
                    </span>
                    {item.amount && <span className="stile-agreement-number">{text(item.amount)}</span>}
                  </li>
                ))}
              </ul>
            </Member>
          )}
        </dl>
      )}
      {rest && (
        <div className="stile-agreement-rest">
          {isSummarized && <p>{words.rest}</p>}
          <Value node={rest} words={words} />
        </div>
      )}
    </section>
  );
}

function Member({ name, deep, children }: { name: string; deep?: boolean; children: ReactNode }) {
  return (
    <div data-deep={deep}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
