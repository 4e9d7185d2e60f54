import type { Metadata } from "next";
import { words } from "../../_words.ts";
import { Overview } from "./_overview/overview.tsx";

export const metadata: Metadata = { title: words.pages.overview };

export default function OverviewPage() {
  return <Overview />;
}
