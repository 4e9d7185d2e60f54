import type { ActionDescriptor, FlowState } from "#server/flow/wire";
import type { PageWords, WordedSection } from "#words/flow";
import type { IconName } from "../ui/icon.tsx";
import { type Detail, type List, lists, type Single, singles, type Thing, wholes } from "./account-items.ts";
import { asksFirst, isPerformable } from "./action-layout.ts";
import { isText } from "./payload-readers.ts";
import type { Item, Known } from "./view-context.ts";

/** A thing that belongs to the account, and what can be done about it. */
export interface Row {
  key: string;
  icon: IconName;
  /** What it is called, or the word for what it is. */
  title: { text: string } | { word: keyof PageWords };
  badges: (keyof PageWords)[];
  details: Detail[];
  actions: ActionDescriptor[];
  /** What its actions are told they are about; null for things there is only one of. */
  id: string | null;
}

export interface Section {
  name: WordedSection;
  /** What it is called instead, where it has but one of the things that its title names. */
  only: keyof PageWords | null;
  rows: Row[];
  /** What is about the section as a whole, for instance to add something. */
  actions: ActionDescriptor[];
}

const order: WordedSection[] = [
  ...(["emails", "sign_in", "passkeys", "second_step"] as const),
  ...(["identities", "sessions", "more", "leave"] as const),
];

/**
 * The account page as data: every thing of the account in its section, with the actions that take its id, and every
 * other action in the section that it is about. What nobody has heard of stands under `more`.
 */
export function sectionsOf(state: FlowState, known: Known): Section[] {
  const actions = Object.values(state.actions);
  const offered = (name: string) => Object.hasOwn(state.actions, name);
  const rows = [
    ...singles.flatMap((single) => singleRow(single, state, offered)),
    ...lists.flatMap((list) => listRows(list, state, actions, known)),
  ];
  const inRows = new Set(singles.flatMap((single) => single.actions));
  const rest = actions.filter(
    (action) => !inRows.has(action.action) && !listOfAction(action) && isPerformable(action, known),
  );
  return order
    .map((name) => {
      const own = rows.filter(({ section }) => section === name).map(({ row }) => row);
      return {
        name,
        only: name === "sign_in" ? onlyWord(own) : null,
        rows: own,
        actions: rest.filter(({ action }) => sectionOf(action) === name),
      };
    })
    .filter((section) => section.rows.length > 0 || section.actions.length > 0);
}

function onlyWord([first, ...others]: Row[]): keyof PageWords | null {
  return first && others.length === 0 && "word" in first.title ? first.title.word : null;
}

/** What an action's words and answers stand beside. */
export function sectionOfAction(action: ActionDescriptor): WordedSection {
  const single = singles.find(({ actions }) => actions.includes(action.action));
  return single?.section ?? listOfAction(action)?.section ?? sectionOf(action.action);
}

/** Whether an action is about one of many things, so that it stands on the page once for each. */
export function isAboutThings(action: ActionDescriptor): boolean {
  return listOfAction(action) !== undefined;
}

/** The item that an action of a row is told about. */
export function itemOf({ id }: Row, action: ActionDescriptor, name: string): Item | undefined {
  const input = lists.map((list) => list.input).find((input) => action.inputs[input]?.hidden);
  return id === null || input === undefined ? undefined : { input, id, name };
}

function sectionOf(action: string): WordedSection {
  return (Object.hasOwn(wholes, action) ? wholes[action] : undefined) ?? "more";
}

function listOfAction(action: ActionDescriptor): List | undefined {
  return lists.find(({ input }) => action.inputs[input]?.hidden);
}

type Placed = { section: WordedSection; row: Row };

function singleRow(
  single: Single,
  { actions, payload }: FlowState,
  offered: (name: string) => boolean,
): Placed[] {
  const own = losingLast(single.actions.flatMap((name) => actions[name] ?? []));
  if (own.length === 0) return [];
  const { section, icon, title } = single;
  const details = [single.detail(payload, offered)];
  return [
    {
      section,
      row: { key: title, icon, title: { word: title }, badges: [], details, actions: own, id: null },
    },
  ];
}

function listRows(list: List, { payload }: FlowState, actions: ActionDescriptor[], known: Known): Placed[] {
  const { section } = list;
  return list.things(payload).flatMap((thing): Placed[] => {
    const id = thing[list.id];
    if (!isText(id)) return [];
    const title = thing[list.title];
    const row: Row = {
      key: id,
      icon: list.icon(thing),
      title: isText(title) ? { text: title } : { word: list.untitled },
      badges: list.badges(thing),
      details: list.details(thing),
      actions: losingLast(
        actions
          .filter((action) => mayBeAbout(action, list, thing, id, known))
          .map((action) => startingWith(action, list.names, title)),
      ),
      id,
    };
    return [{ section, row }];
  });
}

/** Whether an action may be about this thing: it takes its id, and nothing speaks against it. */
function mayBeAbout(action: ActionDescriptor, list: List, thing: Thing, id: string, known: Known): boolean {
  const input = list.also?.[action.action] ?? list.input;
  const descriptor = action.inputs[input];
  if (!descriptor?.hidden || !isPerformable(action, { ...known, [input]: id })) return false;
  if (list.pointless?.[action.action]?.(thing)) return false;
  return descriptor.allowed_values?.some(({ value }) => value === id) ?? true;
}

/** A new name starts as the present one. */
function startingWith(action: ActionDescriptor, names: string | undefined, title: unknown): ActionDescriptor {
  const input = names === undefined ? undefined : action.inputs[names];
  if (!input || (input.value ?? null) !== null || !isText(title)) return action;
  return { ...action, inputs: { ...action.inputs, [input.name]: { ...input, value: title } } };
}

/** What something is lost by comes last. */
function losingLast(actions: ActionDescriptor[]): ActionDescriptor[] {
  return actions.toSorted((one, other) => Number(asksFirst(one)) - Number(asksFirst(other)));
}
