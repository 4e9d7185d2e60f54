import { join } from "node:path";
import { pendingRequests } from "../../authenticator/pending-requests.ts";
import { requestUrl } from "../../authenticator/request-addresses.ts";
import { isRequestId } from "../../authenticator/request-tokens.ts";
import { ownOrigin } from "../../config/own-hosts.ts";
import type { Tenant } from "../../config/tenant.ts";
import type { Runtime } from "../../runtime.ts";
import { plainError, type Reply, redirect } from "../answer/reply.ts";
import { readText } from "../request/body.ts";
import { isSameOrigin } from "../request/origin.ts";
import type { Handler, HandlerContext } from "../table/handler-context.ts";

const pageAddress = "/dev/authenticator";

/**
 * `GET /dev/authenticator`: the played authenticator of development, with its pending requests and its keys. With
 * `Accept: application/json`, the pending requests.
 */
export const authenticatorHandler: Handler = async ({ runtime, request, tenant, url }) => {
  const { authenticator, authenticatorPage, isOutcome, pageHeaders } = await loadPlayedAuthenticator(tenant);
  const declined = new Set(authenticator.declined());
  const pending = await allPendingRequests(runtime);
  const waiting = pending.filter(({ id }) => !declined.has(id));
  if (request.headers.get("accept")?.includes("application/json")) {
    return Response.json(
      waiting.map(({ id, operation, username, userId, transaction, createdAt, validUntil }) => ({
        id,
        operation,
        username,
        user_id: userId,
        transaction,
        created_at: createdAt.toISOString(),
        valid_until: validUntil.toISOString(),
      })),
      { headers: pageHeaders },
    );
  }
  const [name, code] = [url.searchParams.get("outcome") ?? "", url.searchParams.get("code") ?? ""];
  const { markup } = authenticatorPage({
    config: tenant.config,
    waiting: waiting.map((one) => ({ ...one, service: one.tenant.config.service.name })),
    keys: authenticator.keys(),
    outcome: isOutcome(name) ? { name, code: /^\d{1,4}$/.test(code) ? Number(code) : null } : null,
  });
  return new Response(markup, {
    headers: { ...pageHeaders, "content-type": "text/html; charset=utf-8" },
  });
};

/**
 * `POST /dev/authenticator`: a button of that page. `do` is `approve` (with `request`, an id, or `link`), `decline` (with
 * `request`) or `forget` (with `key`, an id or `all`). Redirects to the page.
 */
export const authenticatorButtonHandler: Handler = async (context) => {
  const { request, tenant } = context;
  // A browser on this machine also displays pages of other sites.
  if (!isSameOrigin(request.headers, tenant.config))
    return plainError(403, "Only same-origin requests are allowed.");
  const text = await readText(request, "application/x-www-form-urlencoded");
  if (!text.ok) return plainError(text.reason === "too_large" ? 413 : 400, "Invalid form.");
  const form = new URLSearchParams(text.value);
  const { authenticator } = await loadPlayedAuthenticator(tenant);
  const [requestId, key] = [form.get("request") ?? "", form.get("key") ?? ""];
  switch (form.get("do")) {
    case "approve": {
      const link = await linkOf(context, requestId, form.get("link") ?? "");
      if (!link) return redirectToPage(requestId ? "over" : "no link");
      const approval = await authenticator.approve(link);
      return redirectToPage(approval.outcome, "code" in approval ? approval.code : undefined);
    }
    case "decline":
      if (!isRequestId(requestId)) break;
      authenticator.decline(requestId);
      return redirectToPage("declined");
    case "forget":
      authenticator.forget(key);
      return redirectToPage("forgotten");
  }
  return plainError(400, "Invalid form.");
};

/** The pending requests of all tenants. */
async function allPendingRequests(runtime: Runtime) {
  const pending = await pendingRequests(runtime);
  const tenants = await Promise.all(pending.map(({ tenantId }) => runtime.tenants.byId(tenantId)));
  return pending.flatMap((request, at) => {
    const tenant = tenants[at];
    return tenant ? [{ ...request, tenant }] : [];
  });
}

/** The address and token of a request, by its id or by a pasted link. */
async function linkOf({ runtime, tenant }: HandlerContext, id: string, pasted: string) {
  const { readLink } = await import("../../dev/played-authenticator/link.ts");
  if (!id) return readLink(pasted, tenant.config.base_url);
  const found = (await allPendingRequests(runtime)).find((one) => one.id === id);
  return found ? { href: requestUrl(found.tenant.config, id), token: found.deviceToken } : null;
}

/** Loaded on first use; never in production. */
async function loadPlayedAuthenticator({ config }: Tenant) {
  const [{ openPlayedAuthenticator }, { authenticatorPage, isOutcome, pageHeaders }] = await Promise.all([
    import("../../dev/played-authenticator/player.ts"),
    import("../../dev/played-authenticator/page.ts"),
  ]);
  const file = join(/* turbopackIgnore: true */ config.data_dir, "played-phone.json");
  return {
    authenticatorPage,
    isOutcome,
    pageHeaders,
    authenticator: openPlayedAuthenticator(file, ownOrigin(config)),
  };
}

function redirectToPage(outcome: string, code?: number): Reply {
  const query = new URLSearchParams({ outcome, ...(code === undefined ? {} : { code: String(code) }) });
  return redirect(303, `${pageAddress}?${query}`);
}
