/** The rooms of the code in their order, as a Mermaid flowchart: a room may import all that lie below it. */
export function roomsDiagram(floors: readonly (readonly string[])[]): string {
  const fromAbove = floors.toReversed();
  const nodes = fromAbove.map((rooms, index) => `  floor${index + 1}["${rooms.join("<br/>")}"]`);
  const arrows = fromAbove.slice(1).map((_, index) => `  floor${index + 1} --> floor${index + 2}`);
  return ["flowchart TD", ...nodes, ...arrows].join("\n");
}
