import type { Query } from "../../../flow-page.tsx";
import { FramePage } from "../../../frame-page.tsx";

interface PageProps {
  params: Promise<{ tenant: string }>;
  searchParams: Promise<Query>;
}

/** `GET /t/{tenant}/embed`: a frame of a tenant without a host name of its own. */
export default async function Page({ params, searchParams }: PageProps) {
  const { tenant } = await params;
  return <FramePage tenantId={tenant} query={await searchParams} />;
}
