"use server";

import { cookies, headers } from "next/headers";
import { redirect } from "next/navigation";
import { stile } from "../../stile.js";

/** Next calls it for forms of its own pages alone. */
export async function signOut() {
  await stile.endSession({ headers: await headers() });
  const domain = process.env.STILE_COOKIE_DOMAIN; // session.cookie.domain, if it is set
  (await cookies()).delete({ name: "service", ...(domain ? { domain } : {}) });
  redirect("/");
}
