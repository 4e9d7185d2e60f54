import type { Metadata } from "next";
import { words } from "../../../_words.ts";
import { Funnel } from "./funnel.tsx";

export const metadata: Metadata = { title: words.pages.funnel };

export default function FunnelPage() {
  return <Funnel />;
}
