import { Code } from "@mantine/core";

/** A sentence of the service, in which paths of settings stand between backticks. */
export function Sentence({ text }: { text: string }) {
  return text.split("`").map((part, index) => (index % 2 === 1 ? <Code key={part}>{part}</Code> : part));
}
