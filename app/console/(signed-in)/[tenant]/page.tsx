import type { Metadata } from "next";
import { PageHead } from "../../_parts/page-head.tsx";
import { words } from "../../_words.ts";

export const metadata: Metadata = { title: words.pages.overview };

export default function OverviewPage() {
  return <PageHead title={words.pages.overview} />;
}
