import type { Query } from "../flow-page.tsx";
import { FramePage } from "../frame-page.tsx";

/** `GET /embed`: a flow in a frame of an application's page. */
export default async function Page({ searchParams }: { searchParams: Promise<Query> }) {
  return <FramePage tenantId={null} query={await searchParams} />;
}
