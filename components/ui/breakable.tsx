/** A text that may hold an address. A line breaks after its `@` and its dots before it breaks elsewhere. */
export function Breakable({ text }: { text: string }) {
  return text.split(/(?<=[@.])/).flatMap((part, place) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: parts have no state
    place > 0 ? [<wbr key={place} />, part] : part,
  );
}
