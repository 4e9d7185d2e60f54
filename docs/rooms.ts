/** The rooms of the code and the imports between them, derived from the linter's rules. */

/** One layer: the rooms of one override of `biome.json`, which share their rules. */
export interface Layer {
  /** Paths of its rooms, such as `server/http`. */
  rooms: string[];
  /** Patterns that its modules must not import. */
  forbidden: string[];
}

interface Override {
  includes: string[];
  linter: {
    rules: { style?: { noRestrictedImports?: { options: { patterns: { group: string[] }[] } } } };
  };
}

/**
 * Reads the layers.
 *
 * @param biome the parsed `biome.json`
 * @returns one layer per override that restricts imports of whole folders, in their order
 */
export function layersOf(biome: { overrides: Override[] }): Layer[] {
  return biome.overrides.flatMap(({ includes, linter }) => {
    const patterns = linter.rules.style?.noRestrictedImports?.options.patterns ?? [];
    const excluded = includes.filter((include) => include.startsWith("!")).map((include) => include.slice(1));
    const rooms = includes
      .flatMap((include) => (/^[^!*]+\/\*\*$/.test(include) ? expand(include) : []))
      .filter((include) => !excluded.includes(include))
      .map((include) => include.slice(0, -"/**".length))
      .filter((room) => room.split("/").length <= 2);
    const forbidden = patterns.flatMap(({ group }) =>
      group.filter((pattern) => !pattern.startsWith("!")).flatMap(expand),
    );
    return patterns.length > 0 && rooms.length > 0 ? [{ rooms, forbidden }] : [];
  });
}

/** Whether modules of one layer may import modules of another. */
export function mayImport(from: Layer, to: Layer): boolean {
  return from !== to && !to.rooms.some((room) => isForbidden(from, room));
}

function isForbidden({ forbidden }: Layer, room: string): boolean {
  const [top = "", name] = room.split("/");
  const patterns = name
    ? [`**/${name}/**`, `#${top}/${name}/**`, `#${top}/**`, `**/${top}/**`]
    : [`#${top}/**`, `**/${top}/**`];
  return patterns.some((pattern) => forbidden.includes(pattern));
}

/** The layers as a Mermaid flowchart. An arrow means "may import"; arrows that follow from others are left out. */
export function roomsDiagram(layers: Layer[]): string {
  const arrows = layers.flatMap((from, index) =>
    layers.flatMap((to, other) => (isDrawn(layers, from, to) ? [`  ${idOf(index)} --> ${idOf(other)}`] : [])),
  );
  const nodes = layers.map(({ rooms }, index) => `  ${idOf(index)}["${labelOf(rooms)}"]`);
  return ["flowchart TD", ...nodes, ...arrows].join("\n");
}

function isDrawn(layers: Layer[], from: Layer, to: Layer): boolean {
  if (!mayImport(from, to)) return false;
  return !layers.some((between) => between !== to && mayImport(from, between) && mayImport(between, to));
}

const idOf = (index: number) => `layer${index + 1}`;

const labelOf = (rooms: string[]) =>
  rooms.length > 3
    ? `${rooms[0]?.split("/")[0]}/<br/>${inRows(rooms.map((room) => room.split("/")[1] ?? room))}`
    : rooms.join("<br/>");

/** Three names a row, so that a node with many rooms stays narrow. */
function inRows(names: string[]): string {
  const rows = names.flatMap((_, index) =>
    index % 3 === 0 ? [names.slice(index, index + 3).join(", ")] : [],
  );
  return rows.join(",<br/>");
}

/** Expands one group of braces: `a/{b,c}` is `a/b` and `a/c`. */
function expand(pattern: string): string[] {
  const [, before = "", names = "", after = ""] = /^([^{]*)\{([^}]*)\}(.*)$/.exec(pattern) ?? [];
  return names ? names.split(",").map((name) => before + name + after) : [pattern];
}
