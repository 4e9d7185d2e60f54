/**
 * Conditions that say why: what an action is offered for, and what the plan of a flow asks for. A condition is data. One function
 * judges it, another one tells what has decided, and a third one describes it, each from the same data.
 */

/** A condition on a subject, such as the view of a flow. */
export type Condition<Subject> =
  | Leaf<Subject>
  | Parts<Subject>
  | Negation<Subject>
  | Given<Subject>
  | Named<Subject>;

/** What every condition has for the compiler alone: which subjects it can judge. */
interface On<Subject> {
  readonly on?: (subject: Subject) => void;
}

/** What all of these conditions can judge. */
type SubjectOf<Part> = [Part] extends [On<infer Subject>] ? Subject : never;

/** A condition that is judged by itself. */
export interface Leaf<Subject> extends Clauses, On<Subject> {
  readonly kind: "setting" | "fact" | "capability" | "flow" | "circumstance";
  /** What it is about: the path of a setting, the name of a fact, a capability, a type of flow. */
  readonly of: string;
  /** The value that a setting is compared with, or what a fact counts as. */
  readonly value?: string;
  /** Pure. */
  readonly judge: (subject: Subject) => boolean;
  /** It is judged by the configuration alone. Leaves of the kind `setting` always are. */
  readonly ofSettings?: true;
}

/** That a condition holds, and that it does not, as clauses: without a capital letter and a full stop. */
export interface Clauses {
  readonly holds: string;
  readonly fails: string;
}

interface Parts<Subject> extends On<Subject> {
  readonly kind: "all" | "any";
  readonly parts: readonly Condition<Subject>[];
}

interface Negation<Subject> extends On<Subject> {
  readonly kind: "not";
  readonly part: Condition<Subject>;
}

/** A condition on a subject that has what a guard finds; the other one is judged of such subjects alone. */
interface Given<Subject> extends On<Subject> {
  readonly kind: "given";
  readonly guard: Leaf<Subject>;
  readonly of: Condition<Subject>;
}

/** A condition that has a clause of its own in descriptions. What decides it is told by its parts. */
export interface Named<Subject> extends Clauses, On<Subject> {
  readonly kind: "named";
  readonly part: Condition<Subject>;
}

/** The condition that all parts hold; without parts it always does. */
export const all = <const Each extends readonly Condition<never>[]>(
  ...parts: Each
): Condition<SubjectOf<Each[number]>> => ({
  kind: "all",
  parts: parts as readonly Condition<never>[] as readonly Condition<SubjectOf<Each[number]>>[],
});

/** The condition that one of the parts holds; without parts it never does. */
export const any = <const Each extends readonly Condition<never>[]>(
  ...parts: Each
): Condition<SubjectOf<Each[number]>> => ({
  kind: "any",
  parts: parts as readonly Condition<never>[] as readonly Condition<SubjectOf<Each[number]>>[],
});

export const not = <Subject>(part: Condition<Subject>): Condition<Subject> => ({ kind: "not", part });

/**
 * The condition that the subject has what another condition needs, and that this one holds.
 *
 * @param condition is judged only where `guard` holds
 */
export const given = <Subject, Narrow extends Subject>(
  guard: Leaf<Subject>,
  condition: Condition<Narrow>,
): Condition<Subject> => ({ kind: "given", guard, of: condition as Condition<never> as Condition<Subject> });

/** Names a condition, so that descriptions do not repeat its parts. */
export const named = <Subject>(clauses: Clauses, part: Condition<Subject>): Named<Subject> => ({
  kind: "named",
  part,
  ...clauses,
});

export const always: Condition<unknown> = { kind: "all", parts: [] };

/** A condition of one place alone. @param of its name in records, with an underscore between words */
export function circumstance<Subject>(
  of: string,
  judge: (subject: Subject) => boolean,
  clauses: Clauses,
): Leaf<Subject> {
  return { kind: "circumstance", of, judge, ...clauses };
}

/** A circumstance that the configuration alone decides, by more than one setting. */
export function circumstanceOfSettings<Subject>(
  of: string,
  judge: (subject: Subject) => boolean,
  clauses: Clauses,
): Leaf<Subject> {
  return { ...circumstance(of, judge, clauses), ofSettings: true };
}

/** Whether a condition holds. */
export function holds<Subject>(condition: Condition<Subject>, subject: Subject): boolean {
  switch (condition.kind) {
    case "all":
      return condition.parts.every((part) => holds(part, subject));
    case "any":
      return condition.parts.some((part) => holds(part, subject));
    case "not":
      return !holds(condition.part, subject);
    case "named":
      return holds(condition.part, subject);
    case "given":
      return holds(condition.guard, subject) && holds(condition.of, subject);
    default:
      return condition.judge(subject);
  }
}

/** What has decided a condition. */
export interface Reason {
  readonly kind: Leaf<never>["kind"];
  readonly of: string;
  /** One sentence. It contains nothing of the user. */
  readonly sentence: string;
}

/** A leaf that has decided a condition, and whether it holds. */
export interface Decisive {
  readonly leaf: AnyLeaf;
  readonly holds: boolean;
}

/** What names and describes a leaf, whatever its subject is. */
export type AnyLeaf = Omit<Leaf<never>, "judge" | "on">;

/** Whether a condition holds, and what has decided that: the leaves of a single judgement, some of them several times. */
export interface Explained {
  readonly holds: boolean;
  readonly by: readonly Decisive[];
}

/**
 * Judges a condition and tells what has decided it: where all parts had to hold, those that do not; where one had to hold,
 * each of them. Each leaf is judged once.
 */
export function explain<Subject>(condition: Condition<Subject>, subject: Subject): Explained {
  const by: Decisive[] = [];
  return { holds: judge(condition, subject, by), by };
}

/** Judges a condition, and adds what has decided it to a list: every step of a login judges some hundred conditions. */
function judge<Subject>(condition: Condition<Subject>, subject: Subject, by: Decisive[]): boolean {
  switch (condition.kind) {
    case "all":
    case "any": {
      const isAll = condition.kind === "all";
      const begin = by.length;
      let verdict = isAll;
      for (const part of condition.parts) {
        const end = by.length;
        const decides = judge(part, subject, by) !== isAll;
        if (decides && verdict === isAll) by.splice(begin, end - begin);
        else if (!decides && verdict !== isAll) by.length = end;
        if (decides) verdict = !isAll;
      }
      return verdict;
    }
    case "not":
      return !judge(condition.part, subject, by);
    case "named":
      return judge(condition.part, subject, by);
    case "given": {
      const end = by.length;
      if (!judge(condition.guard, subject, by)) return false;
      by.length = end;
      return judge(condition.of, subject, by);
    }
    default: {
      const verdict = condition.judge(subject);
      by.push({ leaf: condition, holds: verdict });
      return verdict;
    }
  }
}

/**
 * Tells what has decided a condition, as `explain` does.
 *
 * @returns each reason once; none if there was nothing to decide
 */
export function reasonsOf<Subject>(condition: Condition<Subject>, subject: Subject): Reason[] {
  const reasons = explain(condition, subject).by.map(reasonOf);
  return [...new Map(reasons.map((reason) => [reason.sentence, reason])).values()];
}

/** Says what a leaf has decided. */
export function reasonOf({ leaf, holds: verdict }: Decisive): Reason {
  const { kind, of } = leaf;
  return { kind, of, sentence: asSentence(leaf[verdict ? "holds" : "fails"]) };
}

/** Names a leaf and its verdict, for records: `fact:email`, and `!fact:email` if it fails. No two leaves with other clauses have the same name. */
export function reasonName({ leaf: { kind, of, value }, holds: verdict }: Decisive): string {
  return `${verdict ? "" : "!"}${kind}:${of}${value === undefined ? "" : `=${value}`}`;
}

/** The leaves that a condition is made of, each once. */
export function leavesIn<Subject>(condition: Condition<Subject>): Leaf<Subject>[] {
  switch (condition.kind) {
    case "all":
    case "any":
      return [...new Set(condition.parts.flatMap(leavesIn))];
    case "not":
    case "named":
      return leavesIn(condition.part);
    case "given":
      return [...leavesIn(condition.guard), ...leavesIn(condition.of)];
    default:
      return [condition];
  }
}

/**
 * Judges a condition by the configuration alone.
 *
 * @param settings a subject with the configuration, and without what other leaves read
 * @returns null if it depends on more
 */
export function verdictBySettings<Subject>(condition: Condition<Subject>, settings: object): boolean | null {
  switch (condition.kind) {
    case "all":
    case "any": {
      const isAll = condition.kind === "all";
      const verdicts = condition.parts.map((part) => verdictBySettings(part, settings));
      if (verdicts.includes(!isAll)) return !isAll;
      return verdicts.includes(null) ? null : isAll;
    }
    case "not": {
      const verdict = verdictBySettings(condition.part, settings);
      return verdict === null ? null : !verdict;
    }
    case "named":
      return verdictBySettings(condition.part, settings);
    case "given":
      return verdictBySettings(all(condition.guard, condition.of), settings);
    default:
      return isOfSettings(condition) ? condition.judge(settings as Subject) : null;
  }
}

const isOfSettings = ({ kind, ofSettings }: Leaf<never>) => kind === "setting" || ofSettings === true;

/**
 * Tells what of the configuration a condition reads and judges otherwise than before.
 *
 * @param before a subject with the former configuration
 * @param now the same with the present one
 */
export function changedSettingsOf<Subject>(
  condition: Condition<Subject>,
  before: object,
  now: object,
): Reason[] {
  const changed = leavesIn(condition).filter(
    (leaf) =>
      isOfSettings(leaf as Leaf<never>) && leaf.judge(before as Subject) !== leaf.judge(now as Subject),
  );
  const reasons = changed.map((leaf) => reasonOf({ leaf, holds: leaf.judge(now as Subject) }));
  return [...new Map(reasons.map((reason) => [reason.sentence, reason])).values()];
}

const asSentence = (clause: string) => `${clause.charAt(0).toUpperCase()}${clause.slice(1)}.`;

/**
 * Describes what a condition asks for, for documentation.
 *
 * @returns a clause, such as "`password.enabled` is on and the account has a password"; null for one that always holds
 */
export function describe<Subject>(condition: Condition<Subject>): string | null {
  return described(condition, true)?.text ?? null;
}

/** A clause, and by which word its parts are joined. */
interface Description {
  text: string;
  joinedBy: "and" | "or" | null;
}

function described<Subject>(condition: Condition<Subject>, verdict: boolean): Description | null {
  switch (condition.kind) {
    case "all":
    case "any": {
      // De Morgan: that not all hold is that one does not.
      const joinedBy = (condition.kind === "all") === verdict ? "and" : "or";
      const parts = condition.parts.flatMap((part) => described(part, verdict) ?? []);
      const [only, second] = parts;
      if (!only || !second) return only ?? null;
      const texts = parts.map((part) => {
        const isOther = part.joinedBy !== null && part.joinedBy !== joinedBy;
        return isOther ? `(${part.text})` : part.text;
      });
      return { text: texts.join(` ${joinedBy} `), joinedBy };
    }
    case "not":
      return described(condition.part, !verdict);
    case "given":
      return described(all(condition.guard, condition.of), verdict);
    default:
      return { text: condition[verdict ? "holds" : "fails"], joinedBy: null };
  }
}

/** The named conditions that a condition is made of, those within others too, each once. */
export function namedIn<Subject>(condition: Condition<Subject>): Named<Subject>[] {
  switch (condition.kind) {
    case "all":
    case "any":
      return [...new Set(condition.parts.flatMap(namedIn))];
    case "not":
      return namedIn(condition.part);
    case "given":
      return namedIn(condition.of);
    case "named":
      return [condition, ...namedIn(condition.part)];
    default:
      return [];
  }
}
