"use client";

import { Anchor } from "@mantine/core";
import Link from "next/link";
import { usePagePath } from "../_shell/me.tsx";
import type { words } from "../_words.ts";
import { Identifier } from "./identifier.tsx";

/** An account of the tenant, with the way to its page: by its address, or by its id where that is not known. */
export function AccountLink({
  id,
  address,
  tab,
}: {
  id: string;
  address?: string | null | undefined;
  /** The tab of the page. */
  tab?: keyof typeof words.user.tabs;
}) {
  const href = usePagePath()(`users/${id}${tab === undefined ? "" : `?tab=${tab}`}`);
  if (!address) return <Identifier value={id} shortened href={href} />;
  return (
    <Anchor component={Link} size="sm" href={href}>
      {address}
    </Anchor>
  );
}
