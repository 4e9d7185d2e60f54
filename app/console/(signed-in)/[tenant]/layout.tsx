import type { ReactNode } from "react";
import { Visited } from "../../_shell/me.tsx";
import { Shell } from "../../_shell/shell.tsx";

/** Pages of a tenant, for an account that is signed in. What it may see is decided with each call. */
export default async function TenantLayout({
  children,
  params,
}: {
  children: ReactNode;
  params: Promise<{ tenant: string }>;
}) {
  const { tenant } = await params;
  return (
    <Visited tenant={tenant}>
      <Shell>{children}</Shell>
    </Visited>
  );
}
