import { join, posix } from "node:path";
import type * as rooms from "../server/floors.ts";
import { backwards, floors, restrictions } from "../server/floors.ts";
import { type Import, type Modules, readModules } from "./imports.ts";

/** `npm run check`: lists imports against the order of the rooms (`server/floors.ts`). Exits with 1 if there are any. */

/** Tests, what only they import, and types that only the compiler reads. The authenticator is played by development too. */
const isTest = (file: string) =>
  /\.(test|types|fixture)\.tsx?$|^server\/testing\/(?!uaf-authenticator\/)/.test(file);

/**
 * Lists the imports that the order of the rooms or a restriction forbids, a sentence each. Type imports count as others do;
 * tests import what they test.
 */
export function forbiddenImports(
  modules: Modules,
  { floors, backwards, restrictions }: Pick<typeof rooms, "floors" | "backwards" | "restrictions">,
): string[] {
  const floorOf = new Map(floors.flatMap((floor, height) => floor.map((room) => [room, height] as const)));
  const roomOf = (file: string) =>
    [...floorOf.keys()].find((room) => file === room || file.startsWith(`${room}/`));
  const reasonAgainst = (from: string, { to, isPackage }: Import): string | undefined => {
    const [room, other] = [roomOf(from), roomOf(to)];
    if (backwards.some((arrow) => arrow.from === from && arrow.to === to)) return;
    if (isTest(to)) return "product code does not import what only tests use";
    if (room !== other && other !== undefined) {
      const [here, there] = [floorOf.get(room ?? "") ?? 0, floorOf.get(other) ?? 0];
      if (there > here) return `${room} lies below ${other}`;
      if (there === here) return `${room} and ${other} lie beside each other`;
    }
    if (other === undefined && !isPackage && /\.tsx?$/.test(to)) return "it belongs to no room";
    return restrictions.find((restriction) => forbids(restriction, from, to))?.because;
  };
  return [...modules].flatMap(([from, imports]) =>
    roomOf(from) === undefined || isTest(from)
      ? []
      : imports.flatMap((one) => {
          const reason = reasonAgainst(from, one);
          return reason === undefined ? [] : [`${from} imports ${one.to}: ${reason}`];
        }),
  );
}

function forbids({ of, except, not, but }: rooms.Restriction, from: string, to: string): boolean {
  const matches = (path: string, globs: readonly string[] = []) =>
    globs.some((glob) => posix.matchesGlob(path, glob));
  return matches(from, of) && !matches(from, except) && matches(to, not) && !matches(to, but);
}

// Not `import.meta.main`: `scripts/run.js` imports the program, and Node 22 has none.
if (process.argv[1] === import.meta.filename) {
  const forbidden = forbiddenImports(readModules(join(import.meta.dirname, "..")), {
    floors,
    backwards,
    restrictions,
  });
  for (const line of forbidden) process.stderr.write(`${line}\n`);
  process.exitCode = forbidden.length > 0 ? 1 : 0;
}
