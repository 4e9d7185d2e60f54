import type { Query } from "../../flow-page.tsx";
import { LoginPage } from "../../login-page.tsx";

interface PageProps {
  params: Promise<{ tenant: string }>;
  searchParams: Promise<Query>;
}

/** `GET /t/{tenant}`: the hosted page of a tenant without a host name of its own. */
export default async function Page({ params, searchParams }: PageProps) {
  const { tenant } = await params;
  return <LoginPage tenantId={tenant} query={await searchParams} />;
}
