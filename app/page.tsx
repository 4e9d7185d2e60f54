import type { Query } from "./flow-page.tsx";
import { LoginPage } from "./login-page.tsx";

/** `GET /`: the hosted page of login and registration. */
export default async function Page({ searchParams }: { searchParams: Promise<Query> }) {
  return <LoginPage tenantId={null} query={await searchParams} />;
}
