import type { Difference, Reason } from "./differences.ts";
import type { Replayed } from "./replay.ts";

/** Says how a replay differs, in lines: the difference, what decided, and the settings that could have caused it. */
export function linesOfDifference({ step, kind, about, recorded, now, ...because }: Difference): string[] {
  const named = (what: string | null) => what ?? "none";
  const heads: Record<Difference["kind"], string> = {
    action: `the action ${about} was ${recorded} and is ${now}`,
    state: `it led to ${named(recorded)} and leads to ${named(now)}`,
    verdict: `it was answered as ${recorded} and is as ${now}`,
    error: `the error was ${named(recorded)} and is ${named(now)}`,
    offered: `${about} was not offered and is`,
    withheld: `${about} was offered and is not`,
    inputs: `the inputs of ${about} have changed`,
    reasons: `${about} is passed over or not offered as before, for another reason`,
    unknown: named(now),
  };
  return [
    `Step ${step}: ${heads[kind]}`,
    ...because.decidedThen.map((reason) => `  decided then: ${written(reason)}`),
    ...because.decidedNow.map((reason) => `  decides now: ${written(reason)}`),
    ...because.settings
      .slice(0, MAX_SETTINGS)
      .map(
        ({ name, before, now: value }) =>
          `  setting ${name}: ${JSON.stringify(before)} before, ${JSON.stringify(value)} now`,
      ),
    ...(because.settings.length > MAX_SETTINGS
      ? [`  and ${because.settings.length - MAX_SETTINGS} other settings`]
      : []),
  ];
}

/** Settings that lines list. */
const MAX_SETTINGS = 8;

const written = ({ name, sentence }: Reason) => (name === sentence ? name : `${sentence} (${name})`);

/** Says the outcome of a replay in one line. */
export function lineOfReplay({ first, steps }: Replayed): string {
  if (!first) return `no difference in ${steps.length} steps`;
  const [line = ""] = linesOfDifference(first);
  return line;
}
