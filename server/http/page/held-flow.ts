import { sealData, unsealData } from "iron-session";
import type { FlowType } from "../../flow/names.ts";
import type { OtherOrigin } from "../request/origin.ts";
import type { HandlerContext } from "../table/handler-context.ts";
import { assertKnownSeals, flowSeconds, type PageFlow } from "./page-cookie.ts";

/**
 * The flow of a page of another origin. Browsers send such a page no cookie of ours, or soon will not, so it holds the
 * flow itself, sealed, and sends it in a header. It never sees or continues a flow of our own pages, and no page can make
 * a browser send the header without having the token (no request forgery).
 */

interface Sealed {
  tenant: string;
  type: FlowType;
  origin: string;
  flow: PageFlow;
}

/** Iron's seals of a flow have about 900 characters. */
const MAX_TOKEN_LENGTH = 4096;

/** @param seconds lifetime; default: that of a flow and a day, so that an expired flow differs from an unknown one */
export function sealHeldFlow(
  { runtime: { vault }, tenant }: HandlerContext,
  { type, origin, flow }: Pick<Sealed, "type" | "origin" | "flow">,
  seconds = flowSeconds(tenant.config),
): Promise<string> {
  const sealed: Sealed = { tenant: tenant.id, type, origin, flow };
  return sealData(sealed, { password: vault.passwords("held flow").sealing, ttl: seconds });
}

/**
 * Opens the flow that a page sent.
 *
 * @returns null if it was not sealed for this tenant, flow type and origin, or has expired
 */
export async function openHeldFlow(
  { runtime: { vault }, tenant }: HandlerContext,
  { origin, token }: OtherOrigin,
  type: FlowType,
): Promise<PageFlow | null> {
  if (token === null || token.length > MAX_TOKEN_LENGTH) return null;
  const opened = await unsealData<Partial<Sealed>>(token, {
    password: vault.passwords("held flow").unsealing,
    ttl: flowSeconds(tenant.config),
  });
  const isOwn = opened.tenant === tenant.id && opened.type === type && opened.origin === origin;
  return (isOwn && opened.flow) || null;
}

/** @throws UnknownKeyError if the flow was sealed with a key that this process lacks */
export function assertKnownHeldFlow({ runtime }: HandlerContext, { token }: OtherOrigin): void {
  if (token !== null && token.length <= MAX_TOKEN_LENGTH)
    assertKnownSeals([token], runtime.vault.passwords("held flow").unsealing);
}
