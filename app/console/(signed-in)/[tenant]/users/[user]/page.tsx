import type { Metadata } from "next";
import { words } from "../../../../_words.ts";
import { User } from "./user.tsx";

export const metadata: Metadata = { title: words.user.title };

export default async function UserPage({ params }: { params: Promise<{ user: string }> }) {
  const { user } = await params;
  return <User id={user} />;
}
