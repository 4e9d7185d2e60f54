import { expect, test } from "vitest";
import { type StateName, stateNames } from "#server/flow/names";
import { states as declared } from "#server/flow/states/index";
import { gallery } from "./gallery.ts";

/** A page shows what newer versions of the service offer, too. */
const ofAnotherVersion = (name: string) => name.endsWith("_of_another_version");
const drawingsOf = (name: StateName) => gallery.filter(({ state }) => state.name === name);
/** States that nothing is done in. */
const isEnd = (name: StateName) => Object.keys(declared[name].actions).length === 0;

test("each drawing has a name of its own, which begins with that of its state", () => {
  const names = gallery.map(({ name }) => name);
  expect(names).toHaveLength(new Set(names).size);
  const known = new Set<string>(stateNames);
  for (const { name, state } of gallery.filter(({ state }) => known.has(state.name)))
    expect(name.startsWith(state.name) || name.startsWith("onboarding_verify_security_key"), name).toBe(true);
});

test.each(stateNames)("each action of %s is drawn", (name) => {
  const drawn = new Set(drawingsOf(name).flatMap(({ state }) => Object.keys(state.actions)));
  expect(Object.keys(declared[name].actions).filter((action) => !drawn.has(action))).toEqual([]);
});

test.each(stateNames)("no action is drawn in %s that is not declared there", (name) => {
  const drawings = drawingsOf(name).filter((drawing) => !ofAnotherVersion(drawing.name));
  const unknown = drawings.flatMap((drawing) =>
    Object.values(drawing.state.actions)
      .filter(({ action, alias_of }) => {
        const actions: Readonly<Record<string, { flows: readonly string[] }>> = declared[name].actions;
        return !actions[alias_of ?? action]?.flows.includes(drawing.flow);
      })
      .map(({ action }) => `${drawing.name}: ${action}`),
  );
  expect(unknown).toEqual([]);
});

test.each(stateNames.filter((name) => !isEnd(name)))("%s is drawn with an error", (name) => {
  expect(drawingsOf(name).some(({ state }) => state.error !== undefined)).toBe(true);
});
