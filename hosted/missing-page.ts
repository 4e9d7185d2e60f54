import { withinTenant } from "#server/http/request/tenant-path";
import type { Page, PageRequest } from "./page.ts";
import { unframed } from "./page-headers.ts";
import { brandOf } from "./theme.ts";

/** The page for unknown addresses. It has no script. */
export function missingPage({ tenant: { config }, language, words }: PageRequest): Page {
  const { notFoundTitle: title, notFoundSentence: sentence, toSignIn } = words.flow.page;
  return {
    status: 404,
    title: `${title} · ${config.service.name}`,
    config,
    embedding: unframed,
    content: {
      part: "missing",
      props: { ...brandOf(config), language, title, sentence, toSignIn, signIn: withinTenant(config, "/") },
    },
  };
}
