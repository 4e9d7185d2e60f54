import { Badge } from "@mantine/core";
import { words } from "../../../_words.ts";

const colours: Partial<Record<string, string>> = { completed: "teal", rejected: "red" };

/** What became of a flow. */
export function Outcome({ outcome }: { outcome: string }) {
  const texts: Partial<Record<string, string>> = words.signIns.outcomes;
  return (
    <Badge variant="light" color={colours[outcome] ?? "gray"}>
      {texts[outcome] ?? outcome}
    </Badge>
  );
}
