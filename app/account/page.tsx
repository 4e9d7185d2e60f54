import { FlowPage, type Query } from "../flow-page.tsx";

/** `GET /account`: what people manage of their own account, drawn from the profile flow. */
export default async function Page({ searchParams }: { searchParams: Promise<Query> }) {
  return <FlowPage tenantId={null} type="profile" query={await searchParams} path="/account" />;
}
