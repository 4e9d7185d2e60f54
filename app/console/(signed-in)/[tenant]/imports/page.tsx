import type { Metadata } from "next";
import { words } from "../../../_words.ts";
import { Imports } from "./imports.tsx";

export const metadata: Metadata = { title: words.pages.imports };

export default function ImportsPage() {
  return <Imports />;
}
