"use client";

import { useQuery } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useEffect } from "react";
import { useTRPC } from "./_api/provider.tsx";
import { PageLoading } from "./_shell/page-loading.tsx";

/** The way to the overview of the tenant of the account that is signed in. */
export default function Home() {
  const router = useRouter();
  const { data: me } = useQuery(useTRPC().me.queryOptions());
  useEffect(() => {
    if (me) router.replace(`/console/${me.tenant.id}`);
  }, [me, router]);
  return <PageLoading />;
}
