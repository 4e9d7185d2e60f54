import type { Metadata } from "next";
import { words } from "../../../_words.ts";
import { SigningKeys } from "./signing-keys.tsx";

export const metadata: Metadata = { title: words.signingKeys.title };

export default function SigningKeysPage() {
  return <SigningKeys />;
}
