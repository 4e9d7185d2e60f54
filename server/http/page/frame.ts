import type { Config } from "../../config/schema.ts";
import { codeChallengePattern } from "../../lib/pkce.ts";
import { sharesSessionCookie } from "./destination.ts";

/** A page of an application that shows a flow in a frame. */
export interface Frame {
  /** Origin of the page, one of `embed.origins`. */
  origin: string;
  /** S256 challenge (RFC 7636, 4.2) of the application; absent if it receives the session cookie itself. */
  codeChallenge?: string;
}

/** The header that names the frame of a tRPC call, in the form of the query of `/embed`. */
export const FRAME_HEADER = "x-stile-frame";

export type ParsedFrame = { ok: true; frame: Frame } | { ok: false; reason: "origin" | "code_challenge" };

/** Reads `origin` and `code_challenge` of a frame. Only pages on the list may hold one. */
export function parseFrame(query: URLSearchParams, config: Config): ParsedFrame {
  const [origin = "", ...otherOrigins] = query.getAll("origin");
  const [codeChallenge, ...otherChallenges] = query.getAll("code_challenge");
  if (otherOrigins.length > 0 || !config.embed.origins.includes(origin))
    return { ok: false, reason: "origin" };
  if (otherChallenges.length > 0) return { ok: false, reason: "code_challenge" };
  // The browser would drop the session cookie in the frame of another site, and the application would not see it.
  if (codeChallenge === undefined)
    return sharesSessionCookie(new URL(origin), config)
      ? { ok: true, frame: { origin } }
      : { ok: false, reason: "code_challenge" };
  return codeChallengePattern.test(codeChallenge)
    ? { ok: true, frame: { origin, codeChallenge } }
    : { ok: false, reason: "code_challenge" };
}

/** Whether two frames are of the same page, and of the same sign-in there. */
export function isSameFrame(one: Frame, other: Frame): boolean {
  return one.origin === other.origin && one.codeChallenge === other.codeChallenge;
}
