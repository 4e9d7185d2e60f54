import { sealData, unsealData } from "iron-session";
import type { FlowType } from "../../flow/names.ts";
import { randomToken } from "../../lib/random-token.ts";
import { registerUse } from "../../sessions/single-use.ts";
import type { HandlerContext } from "../table/handler-context.ts";
import { type Frame, isSameFrame } from "./frame.ts";
import type { PageFlow } from "./page-cookie.ts";

/**
 * A flow that moves between a frame and a window of this service, whose cookies the browser keeps apart. The page passes
 * it on as a sealed token, which is valid once and shortly.
 */

const LIFETIME_SECONDS = 60;

/** The seal lets clocks differ by a minute. */
const MAX_AGE_SECONDS = LIFETIME_SECONDS + 60;

interface Sealed {
  id: string;
  tenant: string;
  type: FlowType;
  frame: Frame;
  flow: PageFlow;
}

/** Seals a flow of a frame, for a page of this service that runs for the same frame. */
export async function sealMovedFlow(
  { runtime: { vault, platform }, tenant }: HandlerContext,
  { type, frame, flow }: Pick<Sealed, "type" | "frame" | "flow">,
): Promise<string> {
  const sealed: Sealed = { id: randomToken(platform), tenant: tenant.id, type, frame, flow };
  return sealData(sealed, { password: vault.passwords("moved flow").sealing, ttl: LIFETIME_SECONDS });
}

/**
 * Opens a sealed flow, once.
 *
 * @returns null if it was not sealed for this tenant, flow type and frame, has expired, or was opened before
 */
export async function openMovedFlow(
  context: HandlerContext,
  { token, type, frame }: { token: string; type: FlowType; frame: Frame },
): Promise<PageFlow | null> {
  const { runtime, tenant } = context;
  const opened = await unsealData<Partial<Sealed>>(token, {
    password: runtime.vault.passwords("moved flow").unsealing,
    ttl: LIFETIME_SECONDS,
  });
  const { id, flow, frame: sealedFor } = opened;
  if (!id || !flow || opened.tenant !== tenant.id || opened.type !== type) return null;
  if (!sealedFor || !isSameFrame(sealedFor, frame)) return null;
  return (await registerUse(context, { id, seconds: MAX_AGE_SECONDS })) ? flow : null;
}
