"use server";

import { Auth, raw, skipCSRFCheck } from "@auth/core";
import { cookies, headers } from "next/headers";
import { redirect } from "next/navigation";
import { app, clientId, config, forget, session, stile } from "../auth.js";

/** Leads to Stile. Next calls it for forms of its own pages alone, so that Auth.js need not check that again. */
export async function signIn() {
  const request = new Request(`${app}/api/auth/signin/stile`, {
    method: "POST",
    headers: { cookie: (await headers()).get("cookie") ?? "" },
    body: new URLSearchParams({ callbackUrl: `${app}/` }),
  });
  const answer = await Auth(request, { ...config, raw, skipCSRFCheck });
  const jar = await cookies();
  for (const { name, value, options } of answer.cookies ?? []) jar.set(name, value, options);
  redirect(answer.redirect);
}

/** Ends the session here, and leads to Stile to end the one there (OpenID Connect RP-Initiated Logout 1.0). */
export async function signOut() {
  const { idToken } = (await session()) ?? {};
  await forget();
  const query = new URLSearchParams({
    client_id: clientId,
    post_logout_redirect_uri: `${app}/`,
    ...(idToken ? { id_token_hint: idToken } : {}),
  });
  redirect(`${stile}/oauth/logout?${query}`);
}
