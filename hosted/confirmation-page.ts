import { withinTenant } from "#server/http/request/tenant-path";
import { confirmationPage as confirmationOf } from "#server/passkey-server/confirmation";
import { dataView } from "#server/passkey-server/confirmation-view";
import { visibleLine } from "#server/passkey-server/visible-text";
import type { ConfirmationProps } from "../components/confirmation/confirmation.tsx";
import { languagesOf } from "./languages.ts";
import type { Page, PageRequest } from "./page.ts";
import { unframed } from "./page-headers.ts";
import { brandOf } from "./theme.ts";

/**
 * `GET /confirm`: the page on which a user confirms or declines a transaction of the passkey server. Displaying it
 * changes nothing.
 */
export async function confirmationPage(request: PageRequest): Promise<Page> {
  const { tenant, path, query, language, words } = request;
  const { config } = tenant;
  const token = query.get("token") ?? "";
  const content = await contentOf(request, token);
  const end = "end" in content ? content.end : "answered" in content ? content.answered.end : null;
  const title = end ? words.confirmation.ends[end].title : words.confirmation.title;
  const address = withinTenant(config, path);
  return {
    // A page that is reloaded has no token, and finds it in the browser.
    status: token !== "" && end === "unknown" ? 404 : 200,
    title: `${title} · ${config.service.name}`,
    config,
    embedding: unframed,
    // The page's address contains a token until the page removes it.
    referrer: "no-referrer",
    content: {
      part: "confirmation",
      props: {
        words: words.confirmation,
        errorWords: words.flow,
        language,
        ...brandOf(config),
        address: `/passkeys/${tenant.id}/transaction/confirm`,
        content,
        languages: languagesOf(
          request,
          token === "" || end === "unknown" ? address : `${address}?${new URLSearchParams({ token })}`,
        ),
      },
    },
  };
}

async function contentOf(
  { runtime, tenant, language }: PageRequest,
  token: string,
): Promise<ConfirmationProps["content"]> {
  const page = await confirmationOf({ runtime, tenant }, token);
  if (page.state === "confirmed" || page.state === "declined") {
    const { state: end, returnsTo } = page;
    if (returnsTo !== null) return { answered: { token, end, returnsTo } };
    return { end: end === "confirmed" ? "answered" : end };
  }
  if (page.state !== "open") return { end: page.state };
  const { application, user, returnsTo, publicKey } = page;
  return {
    question: {
      token,
      // These names come from the application, and may contain misleading characters.
      application: visibleLine(application),
      user: { name: visibleLine(user.name), displayName: visibleLine(user.displayName) },
      ...dataView(page.transactionId, page.data, language),
      returnsTo,
      options: publicKey,
    },
  };
}
