import type { ActionDescriptor, FlowState } from "#server/flow/wire";
import type { PageWords, WordedSection } from "#words/flow";
import type { IconName } from "../ui/icon.tsx";
import {
  type AccountItem,
  type Detail,
  type ItemList,
  itemLists,
  type Singleton,
  sectionActions,
  shownOnlyIf,
  singletons,
} from "./account-items.ts";
import { isPerformable, needsConfirmation } from "./action-layout.ts";
import { isText } from "./payload-readers.ts";
import type { ItemReference, PageValues } from "./view-context.ts";

/** An item of the account and its actions. */
export interface Row {
  key: string;
  icon: IconName;
  /** The item's name, or the word for its kind; `number` tells it from others with the same one. */
  title: ({ text: string } | { word: keyof PageWords }) & { number?: number };
  /** The input that renames the item, which begins with its title. */
  renameInput?: string;
  badges: (keyof PageWords)[];
  details: Detail[];
  actions: ActionDescriptor[];
  /** The id that is passed to the item's actions; null for a singleton. */
  id: string | null;
}

export interface Section {
  name: WordedSection;
  /** The title of a section that shows a single kind of item. */
  only: keyof PageWords | null;
  rows: Row[];
  /** Actions of the whole section, for instance to add an item. */
  actions: ActionDescriptor[];
}

const order: WordedSection[] = [
  ...(["name", "emails", "sign_in", "passkeys", "second_step", "trusted_browsers"] as const),
  ...(["identities", "applications", "sessions", "sign_ins", "more", "leave"] as const),
];

/**
 * The account page as data: each item of the account in its section with the actions that take its id, and every
 * other action in the section that it concerns. Unknown actions are in `more`. Empty sections are left out.
 *
 * @param kept a section that is shown even if it is empty, because it has the result of an action
 */
export function sectionsOf(
  state: FlowState,
  pageValues: PageValues,
  kept?: WordedSection | undefined,
): Section[] {
  const actions = Object.values(state.actions);
  const offered = (name: string) => Object.hasOwn(state.actions, name);
  const rows = [
    ...singletons.flatMap((singleton) => singletonRow(singleton, state, offered)),
    ...itemLists.flatMap((list) => listRows(list, state, actions, pageValues)),
  ];
  const inRows = new Set(singletons.flatMap((singleton) => singleton.actions));
  const rest = actions.filter(
    (action) =>
      !inRows.has(action.action) &&
      !listOfAction(action) &&
      isPerformable(action, pageValues) &&
      (shownOnlyIf[action.action]?.(state.payload) ?? true),
  );
  return order
    .map((name) => {
      const own = rows.filter(({ section }) => section === name).map(({ row }) => row);
      return {
        name,
        only: name === "sign_in" || name === "name" ? onlyWord(own) : null,
        rows: own,
        actions: rest.filter(({ action }) => sectionOf(action) === name),
      };
    })
    .filter(({ name, rows, actions }) => name === kept || rows.length > 0 || actions.length > 0);
}

function onlyWord([first, ...others]: Row[]): keyof PageWords | null {
  return first && others.length === 0 && "word" in first.title ? first.title.word : null;
}

/** The section that shows an action and its result. */
export function sectionOfAction(action: ActionDescriptor): WordedSection {
  const singleton = singletons.find(({ actions }) => actions.includes(action.action));
  return singleton?.section ?? listOfAction(action)?.section ?? sectionOf(action.action);
}

/** The item that an action of a row is performed on. */
export function itemOf({ id }: Row, action: ActionDescriptor, name: string): ItemReference | undefined {
  const input = itemLists.map((list) => list.input).find((input) => action.inputs[input]?.hidden);
  return id === null || input === undefined ? undefined : { input, id, name };
}

function sectionOf(action: string): WordedSection {
  return (Object.hasOwn(sectionActions, action) ? sectionActions[action] : undefined) ?? "more";
}

function listOfAction(action: ActionDescriptor): ItemList | undefined {
  return itemLists.find(({ input }) => action.inputs[input]?.hidden);
}

type Placed = { section: WordedSection; row: Row };

function singletonRow(
  singleton: Singleton,
  { actions, payload }: FlowState,
  offered: (name: string) => boolean,
): Placed[] {
  const values = singleton.values?.(payload) ?? {};
  const own = destructiveLast(
    singleton.actions.flatMap((name) => actions[name] ?? []).map((action) => withValues(action, values)),
  );
  if (own.length === 0) return [];
  const { section, icon, title } = singleton;
  const details = [singleton.detail(payload, offered)];
  return [
    {
      section,
      row: {
        key: title,
        icon,
        title: { word: title },
        badges: [],
        details,
        actions: own,
        id: null,
      },
    },
  ];
}

function listRows(
  list: ItemList,
  { payload }: FlowState,
  actions: ActionDescriptor[],
  pageValues: PageValues,
): Placed[] {
  const { section } = list;
  return list.items(payload).flatMap((item): Placed[] => {
    const id = item[list.id];
    if (!isText(id)) return [];
    const title = item[list.title];
    const row: Row = {
      key: id,
      icon: list.icon(item),
      title: { ...(isText(title) ? { text: title } : { word: list.untitled }), ...numbered(item.number) },
      ...(list.renameInput ? { renameInput: list.renameInput } : {}),
      badges: list.badges(item),
      details: list.details(item),
      actions: destructiveLast(actions.filter((action) => appliesTo(action, list, item, id, pageValues))),
      id,
    };
    return [{ section, row }];
  });
}

/** The first of equal items needs no number. */
function numbered(number: unknown): { number?: number } {
  return typeof number === "number" && number > 1 ? { number } : {};
}

/**
 * Whether an action applies to this item: the item's id makes it performable, and the action would change
 * something.
 */
function appliesTo(
  action: ActionDescriptor,
  list: ItemList,
  item: AccountItem,
  id: string,
  pageValues: PageValues,
): boolean {
  const input = list.otherInputs?.[action.action] ?? list.input;
  const descriptor = action.inputs[input];
  if (!descriptor?.hidden || !isPerformable(action, { ...pageValues, [input]: id })) return false;
  if (list.isRedundant?.[action.action]?.(item)) return false;
  return descriptor.allowed_values?.some(({ value }) => value === id) ?? true;
}

/** Presets visible inputs with current values, unless the server presets them. */
export function withValues(action: ActionDescriptor, values: Record<string, unknown>): ActionDescriptor {
  const inputs = Object.entries(action.inputs).map(([name, input]) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    const isPreset = input.hidden || (input.value ?? null) !== null || !isText(value);
    return [name, isPreset ? input : { ...input, value }] as const;
  });
  return { ...action, inputs: Object.fromEntries(inputs) };
}

/** Sorts destructive actions last. */
function destructiveLast(actions: ActionDescriptor[]): ActionDescriptor[] {
  return actions.toSorted((one, other) => Number(needsConfirmation(one)) - Number(needsConfirmation(other)));
}
