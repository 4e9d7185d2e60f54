import type { Metadata } from "next";
import { ConfirmationPage } from "../../../confirm/confirmation-page.tsx";
import type { Query } from "../../../flow-page.tsx";

interface PageProps {
  params: Promise<{ tenant: string }>;
  searchParams: Promise<Query>;
}

/** The page's address holds a token, until the page has taken it out. */
export const metadata: Metadata = { referrer: "no-referrer" };

/** `GET /t/{tenant}/confirm`: asks about a transaction of a tenant that has no host name of its own. */
export default async function Page({ params, searchParams }: PageProps) {
  const { tenant } = await params;
  return <ConfirmationPage tenantId={tenant} query={await searchParams} />;
}
