import { FlowPage, type Query } from "../../../flow-page.tsx";

interface PageProps {
  params: Promise<{ tenant: string }>;
  searchParams: Promise<Query>;
}

/** `GET /t/{tenant}/account`: the account page of a tenant without a host name of its own. */
export default async function Page({ params, searchParams }: PageProps) {
  const { tenant } = await params;
  return <FlowPage tenantId={tenant} type="profile" query={await searchParams} path="/account" />;
}
