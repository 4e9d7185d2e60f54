import type { Metadata } from "next";
import { words } from "../../../_words.ts";
import { SignIns } from "./sign-ins.tsx";

export const metadata: Metadata = { title: words.pages.sign_ins };

export default function SignInsPage() {
  return <SignIns />;
}
