"use client";

import { Skeleton } from "@mantine/core";
import type { ReactNode } from "react";
import { type Answered, Empty, Failure, isMissing } from "./answers.tsx";
import { BackLink } from "./back-link.tsx";
import { OfConfiguration } from "./own-tenant.tsx";
import { PageHead } from "./page-head.tsx";

/** The head of the page of an identity provider or an application, and what stands there until it is read. */
export function PartyHead({
  list,
  title,
  sentence,
  found: { data, error, refetch },
  failure,
  missing,
  children,
}: {
  /** The page of all of them. */
  list: { path: string; label: string };
  title: string;
  sentence?: string;
  found: { data: unknown; error: Answered | null; refetch(): unknown };
  /** What stands in place of the error. */
  failure?: ReactNode;
  /** What is said if there is no such thing, in place of all that the page has. */
  missing?: { title: string; sentence: string };
  /** Actions. */
  children?: ReactNode;
}) {
  if (!data && missing && isMissing(error))
    return (
      <>
        <BackLink to={list.path} label={list.label} />
        <PageHead title={list.label} />
        <Empty {...missing} />
      </>
    );
  return (
    <>
      <BackLink to={list.path} label={list.label} />
      <PageHead title={title} sentence={sentence}>
        {children}
      </PageHead>
      <OfConfiguration />
      {!data && error && (failure || <Failure error={error} retry={() => void refetch()} />)}
      {!data && !error && <Skeleton height={400} />}
    </>
  );
}
