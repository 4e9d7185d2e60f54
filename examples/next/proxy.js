import { StileError } from "@stile-auth/server";
import { NextResponse } from "next/server";
import { signInUrl, stile } from "./stile.js";

/** Sends visitors without a session to sign in. The token alone is checked: no request for each page. */
export async function proxy(request) {
  try {
    const verified = await stile.verifySession(request, { tokenOnly: true });
    return verified.ok ? NextResponse.next() : NextResponse.redirect(signInUrl("/account"));
  } catch (error) {
    if (!(error instanceof StileError)) throw error;
    return new NextResponse("The sign-in is not available at the moment.", { status: 503 });
  }
}

export const config = { matcher: "/account/:path*" };
