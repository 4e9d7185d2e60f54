import type { Metadata } from "next";
import { words } from "../../../../_words.ts";
import { History } from "./history.tsx";

export const metadata: Metadata = { title: words.settings.history };

export default function HistoryPage() {
  return <History />;
}
