import { FlowPage, type Query } from "../flow-page.tsx";

/** `GET /account`: the account page, which displays the profile flow. */
export default async function Page({ searchParams }: { searchParams: Promise<Query> }) {
  return <FlowPage tenantId={null} type="profile" query={await searchParams} path="/account" />;
}
