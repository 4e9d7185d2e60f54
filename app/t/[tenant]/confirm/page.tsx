import "../../../../components/confirmation/confirmation.css";
import type { Metadata } from "next";
import { ConfirmationPage } from "../../../confirm/confirmation-page.tsx";
import type { Query } from "../../../flow-page.tsx";

interface PageProps {
  params: Promise<{ tenant: string }>;
  searchParams: Promise<Query>;
}

/** The page's address contains a token until the page removes it. */
export const metadata: Metadata = { referrer: "no-referrer" };

/** `GET /t/{tenant}/confirm`: confirmation of a transaction of a tenant without a host name of its own. */
export default async function Page({ params, searchParams }: PageProps) {
  const { tenant } = await params;
  return <ConfirmationPage tenantId={tenant} query={await searchParams} />;
}
