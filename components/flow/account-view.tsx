import { useEffect, useId, useRef } from "react";
import type { ActionName } from "#server/flow/protocol-names";
import type { ActionDescriptor } from "#server/flow/wire";
import { directionOf } from "#words/direction";
import type { FlowWords } from "#words/flow";
import { Alert } from "../ui/alert.tsx";
import { Breakable } from "../ui/breakable.tsx";
import { Icon } from "../ui/icon.tsx";
import { additionTo } from "./account-additions.ts";
import type { Detail } from "./account-items.ts";
import {
  itemOf,
  type Row,
  type Section,
  sectionOfAction,
  sectionsOf,
  withValues,
} from "./account-sections.ts";
import { ActionForm } from "./action-form.tsx";
import { needsConfirmation, scriptedClass, visibleInputs } from "./action-layout.ts";
import { Disclosure } from "./disclosure.tsx";
import { recoveryCodesIn } from "./payload-readers.ts";
import { PictureForm } from "./picture-form.tsx";
import { scopeText } from "./scope-text.ts";
import type { ItemReference, ViewContext } from "./view-context.ts";
import { actionWords, interpolate } from "./words.ts";

/** An account: its items in sections, each with its actions. */
export function AccountView({ context }: { context: ViewContext }) {
  const { words, copy, flow } = context;
  const { state, performed, notice, account } = flow.view;
  const added = performed === null || !account ? null : additionTo(account, state);
  // The action performed may no longer be offered, for instance because its last item was removed.
  const offered = (name: string | null) =>
    name === null ? undefined : (state.actions[name] ?? account?.actions[name]);
  const acted = offered(performed) ?? offered(added);
  const isDone = acted !== undefined && !state.error && notice === null;
  const done = isDone ? actionWords(words, acted.action, acted.description, copy).done : undefined;
  const resultSection = acted && sectionOfAction(acted);
  // What was done in another state is scrolled into view, unless recovery codes have to be saved first.
  const doneElsewhere =
    (added !== null && added !== performed) || state.payload.performed_action !== undefined;
  const scrollsIntoView = doneElsewhere && recoveryCodesIn(state.payload).length === 0;
  return sectionsOf(state, context.pageValues, done === undefined ? undefined : resultSection).map(
    (section) => (
      <Panel
        key={section.name}
        context={context}
        section={section}
        done={resultSection === section.name ? done : undefined}
        scrollsIntoView={scrollsIntoView}
      />
    ),
  );
}

interface PanelProps {
  context: ViewContext;
  section: Section;
  /** The confirmation of the action just performed on one of its items. */
  done: string | undefined;
  /** Whether the section is to be scrolled into view. */
  scrollsIntoView: boolean;
}

function Panel({ context, section, done, scrollsIntoView }: PanelProps) {
  const { words, flow } = context;
  const titleId = useId();
  const title = useRef<HTMLHeadingElement>(null);
  const { title: text, sentence, empty } = words.sections[section.name];
  const { answerCount } = flow.view;
  const actions = [...section.actions, ...section.rows.flatMap((row) => row.actions)];

  // biome-ignore lint/correctness/useExhaustiveDependencies: the action may have removed the element with the focus
  useEffect(() => {
    if (done !== undefined && (document.activeElement ?? document.body) === document.body)
      title.current?.focus({ preventScroll: !scrollsIntoView });
  }, [answerCount]);

  return (
    <section
      className={`stile-panel${scriptedClass(actions)}`}
      aria-labelledby={titleId}
      data-section={section.name}
    >
      <h2 className="stile-panel-title" id={titleId} ref={title} tabIndex={-1}>
        {section.only ? words.page[section.only] : text}
      </h2>
      {sentence && <p className="stile-panel-sentence">{sentence}</p>}
      {done !== undefined && (
        <Alert tone="info">
          <p>{done}</p>
        </Alert>
      )}
      {section.rows.length > 0 && (
        <ul className="stile-rows">
          {section.rows.map((row) => (
            <RowView key={row.key} context={context} row={row} />
          ))}
        </ul>
      )}
      {section.rows.length === 0 && empty && <p className="stile-panel-empty">{empty}</p>}
      {section.actions.length > 0 && (
        <div className="stile-panel-actions">
          {section.actions.map((action) => (
            <AccountAction key={action.action} context={context} action={action} tone="secondary" />
          ))}
        </div>
      )}
    </section>
  );
}

function RowView({ context, row }: { context: ViewContext; row: Row }) {
  const { words, language, live } = context;
  const kind = "text" in row.title ? row.title.text : words.page[row.title.word];
  const title = row.title.number === undefined ? kind : `${kind} ${row.title.number}`;
  const preset = row.renameInput ? { [row.renameInput]: title } : {};
  const details = row.details
    .map((detail) => detailText(detail, words, language, live))
    .filter((text) => text !== "");
  return (
    <li className={`stile-row${scriptedClass(row.actions)}`}>
      <Icon name={row.icon} />
      <div className="stile-row-text">
        <p className="stile-row-title">
          <span dir="auto">
            <Breakable text={title} />
          </span>
          {row.badges.map((badge) => (
            <span key={badge} className="stile-badge" data-badge={badge}>
              {words.page[badge]}
            </span>
          ))}
        </p>
        {details.length > 0 && (
          <p className="stile-hint">{details.map(isolated(language)).join("\u00a0· ")}</p>
        )}
      </div>
      {row.actions.length > 0 && (
        <div className="stile-row-actions">
          {row.actions.map((action) => (
            <AccountAction
              key={action.action}
              context={context}
              action={withValues(action, preset)}
              item={itemOf(row, action, title)}
              about={title}
              tone="link"
            />
          ))}
        </div>
      )}
    </li>
  );
}

interface AccountActionProps {
  context: ViewContext;
  action: ActionDescriptor;
  item?: ItemReference | undefined;
  /** The name of the row that it is in. */
  about?: string;
  tone: "link" | "secondary";
}

/** An action with fields or a confirmation is in a disclosure; any other is a button. */
function AccountAction({ context, action, item, about, tone }: AccountActionProps) {
  if (action.action === ("picture_update" satisfies ActionName))
    return <PictureForm context={context} action={action} />;
  const pageValues = item ? { ...context.pageValues, [item.input]: item.id } : context.pageValues;
  const fields = visibleInputs(action, pageValues).filter(({ allowed_values }) => !allowed_values);
  return fields.length > 0 || needsConfirmation(action) ? (
    <Disclosure context={context} action={action} item={item} about={about} tone={tone} />
  ) : (
    <ActionForm context={context} action={action} item={item} tone={tone} />
  );
}

/** Keeps each part in its place where the language is written from right to left (UAX #9, 2.4.2). */
const isolated = (language: string) => (text: string) =>
  directionOf(language) === "rtl" ? `\u2068${text}\u2069` : text;

/** The first locale of the browser that is of the page's language: a reader in Leeds writes dates otherwise than one in Ohio. */
function readerLocale(language: string): string {
  const of = (tag: string) => tag.split("-")[0];
  return navigator.languages.find((tag) => of(tag) === of(language)) ?? language;
}

/** Formats dates in the locale and the time zone of the browser, which the server does not know: it names its own. */
function detailText(detail: Detail, words: FlowWords, language: string, live: boolean): string {
  if ("text" in detail) return detail.text;
  if ("scope" in detail) return scopeText(words, detail.scope, detail.texts, language);
  const text = words.page[detail.word];
  if (detail.count !== undefined) return interpolate(text, { count: detail.count.toLocaleString(language) });
  if (detail.date === undefined) return text;
  const format = new Intl.DateTimeFormat(live ? readerLocale(language) : language, {
    year: "numeric",
    month: "short",
    day: "numeric",
    ...(detail.timed ? { hour: "numeric", minute: "2-digit" } : {}),
    ...(live ? {} : { timeZone: "UTC" }),
    ...(!live && detail.timed ? { timeZoneName: "short" } : {}),
  });
  const moment = interpolate(text, { date: format.format(new Date(detail.date)) });
  return detail.place === undefined ? moment : `${moment} – ${detail.place}`;
}
