import { Code } from "@mantine/core";

/** A sentence in which settings, commands and files stand between backticks. */
export function Sentence({ text }: { text: string }) {
  return text.split("`").map((part, index) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: a part has no other name than its position.
    index % 2 === 1 ? <Code key={index}>{part}</Code> : part,
  );
}
