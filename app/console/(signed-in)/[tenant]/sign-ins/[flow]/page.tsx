import type { Metadata } from "next";
import { words } from "../../../../_words.ts";
import { RecordedFlow } from "./recorded-flow.tsx";

export const metadata: Metadata = { title: words.flow.title };

export default async function FlowPage({ params }: { params: Promise<{ flow: string }> }) {
  const { flow } = await params;
  return <RecordedFlow id={flow} />;
}
