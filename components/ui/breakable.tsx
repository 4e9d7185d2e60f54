/** A text that may hold an address. A line breaks after its `@` and its dots before it breaks elsewhere. */
export function Breakable({ text }: { text: string }) {
  return text
    .split(/(?<=[@.])/)
    .flatMap((part, place) => (place > 0 ? [<wbr key={part + place} />, part] : part));
}
