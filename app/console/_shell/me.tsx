"use client";

import { useQuery } from "@tanstack/react-query";
import { createContext, type ReactNode, use } from "react";
import type { Me } from "#server/http/console/me";
import type { AdminOperations } from "../../../packages/server/src/interface.ts";
import { useTRPC } from "../_api/provider.tsx";
import { PageLoading } from "./page-loading.tsx";

/** The account that is signed in, and the tenant that its page shows. */
interface Visit {
  me: Me;
  /** The id of the shown tenant. */
  tenant: string;
}

const Visiting = createContext<Visit | null>(null);

function useVisit(): Visit {
  const visit = use(Visiting);
  if (!visit) throw new Error("no account is signed in");
  return visit;
}

/** The account that is signed in. */
export const useMe = () => useVisit().me;

/** The id of the tenant that the page shows, which every call names. */
export const useTenant = () => useVisit().tenant;

/** Returns the address of a page of the shown tenant. */
export function usePagePath(): (page: string) => string {
  const { tenant } = useVisit();
  return (page) => `/console/${tenant}${page === "" ? "" : `/${page}`}`;
}

/** Returns whether the role of the account may call a procedure. What it may not call is not offered. */
export function useMay(): (procedure: keyof AdminOperations) => boolean {
  const { procedures } = useMe();
  return (procedure) => procedures.includes(procedure);
}

/** Shows pages once it is known who is signed in. */
export function Visited({ tenant, children }: { tenant: string; children: ReactNode }) {
  const { data: me } = useQuery(useTRPC().me.queryOptions(undefined, { staleTime: 60_000 }));
  if (!me) return <PageLoading />;
  return <Visiting value={{ me, tenant }}>{children}</Visiting>;
}
