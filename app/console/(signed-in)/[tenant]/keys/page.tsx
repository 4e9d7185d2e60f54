import type { Metadata } from "next";
import { words } from "../../../_words.ts";
import { Keys } from "./keys.tsx";

export const metadata: Metadata = { title: words.pages.keys };

export default function KeysPage() {
  return <Keys />;
}
