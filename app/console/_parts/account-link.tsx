"use client";

import { Anchor } from "@mantine/core";
import Link from "next/link";
import { usePagePath } from "../_shell/me.tsx";
import type { words } from "../_words.ts";
import { Identifier } from "./identifier.tsx";

/** An account, with the way to its page: by its address, or by its id where that is not known. */
export function AccountLink({
  id,
  address,
  tab,
  tenant,
  isReached = true,
}: {
  id: string;
  address?: string | null | undefined;
  /** The tab of the page. */
  tab?: keyof typeof words.user.tabs;
  /** The tenant that has it, if that is another one than the shown one. */
  tenant?: string | undefined;
  /** Whether it exists, and the viewer may go there; otherwise there is no way. */
  isReached?: boolean;
}) {
  const pathOf = usePagePath();
  const page = `users/${id}${tab === undefined ? "" : `?tab=${tab}`}`;
  const href = tenant === undefined ? pathOf(page) : `/console/${tenant}/${page}`;
  if (!isReached) return <Identifier value={address ?? id} shortened={!address} />;
  if (!address) return <Identifier value={id} shortened href={href} />;
  return (
    <Anchor component={Link} size="sm" href={href}>
      {address}
    </Anchor>
  );
}
