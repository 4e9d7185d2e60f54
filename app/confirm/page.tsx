import "../../components/confirmation/confirmation.css";
import type { Metadata } from "next";
import type { Query } from "../flow-page.tsx";
import { ConfirmationPage } from "./confirmation-page.tsx";

/** The page's address contains a token until the page removes it. */
export const metadata: Metadata = { referrer: "no-referrer" };

/** `GET /confirm`: confirmation of a transaction of the passkey server. */
export default async function Page({ searchParams }: { searchParams: Promise<Query> }) {
  return <ConfirmationPage tenantId={null} query={await searchParams} />;
}
