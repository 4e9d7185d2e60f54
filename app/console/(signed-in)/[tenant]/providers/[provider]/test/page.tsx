import type { Metadata } from "next";
import { words } from "../../../../../_words.ts";
import { TestResult } from "./test-result.tsx";

export const metadata: Metadata = { title: words.providers.test.title };

/** Where the browser returns to from a test sign-in. */
export default async function TestPage({ params }: { params: Promise<{ provider: string }> }) {
  const { provider } = await params;
  return <TestResult provider={decodeURIComponent(provider)} />;
}
