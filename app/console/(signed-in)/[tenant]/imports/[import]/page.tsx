import type { Metadata } from "next";
import { words } from "../../../../_words.ts";
import { Import } from "./import.tsx";

export const metadata: Metadata = { title: words.imports.title };

export default async function ImportPage({ params }: { params: Promise<{ import: string }> }) {
  const { import: id } = await params;
  return <Import id={id} />;
}
