import { Auth } from "@auth/core";
import { config } from "../../../../auth.js";

/** Auth.js: sends visitors to Stile, takes them back, keeps the session in an encrypted cookie. */
async function answer(request) {
  const answered = await Auth(request, config);
  // The page asks for the session on the server; scripts get no ID token.
  return new URL(request.url).pathname.endsWith("/session") ? new Response(null, { status: 404 }) : answered;
}

export { answer as GET, answer as POST };
