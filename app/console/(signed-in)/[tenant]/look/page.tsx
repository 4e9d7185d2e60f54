import type { Metadata } from "next";
import { words } from "../../../_words.ts";
import { Look } from "./look.tsx";

export const metadata: Metadata = { title: words.pages.look };

export default function LookPage() {
  return <Look />;
}
