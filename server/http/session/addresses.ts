import { z } from "zod";
import { profileSchema } from "../../account/profile.ts";
import { plainErrorSchema } from "../openapi/schemas.ts";
import { address } from "../table/address.ts";
import { described, operation, tagged } from "../table/operation.ts";
import { REFRESH_PATH, REGISTRATION_PATH } from "./bound-cookie.ts";
import { refreshHandler, registrationHandler, wellKnownHandler } from "./device-binding.ts";
import { forwardAuth } from "./forward-auth.ts";
import { jwksHandler } from "./jwks.ts";
import { logoutHandler } from "./logout.ts";
import { meHandler, userHandler } from "./me.ts";
import { pictureHandler } from "./picture.ts";
import {
  bindingInstructions,
  codeRedemption,
  keySet,
  redeemedSession,
  registeringOrigins,
  tokenToValidate,
  validation,
} from "./schemas.ts";
import { tokenHandler } from "./token.ts";
import { validateHandler, validateTokenHandler } from "./validate.ts";

const NO_SESSION = "There is no valid session.";

/** Sessions, and the account of a session. */
export const sessionAddresses = [
  described(address("GET", "/me", meHandler, "plain", "public"), {
    id: "getMe",
    summary: "Get the account of the session",
    tag: "sessions",
    security: "session",
    answers: { 200: { schema: profileSchema }, 401: NO_SESSION, 404: "The account was deleted." },
  }),
  described(address("GET", "/users/{id}", userHandler, "plain", "public"), {
    id: "getOwnUser",
    summary: "Get the account of the session by its id",
    tag: "sessions",
    security: "session",
    params: z.object({ id: z.string() }),
    answers: { 200: { schema: profileSchema }, 401: NO_SESSION, 404: "The id is not that of the caller." },
  }),
  described(address("GET", "/users/pictures/{picture}", pictureHandler, "plain", "public"), {
    id: "getPicture",
    summary: "Get a picture that a user uploaded",
    description: "`picture` of the account is this address. A new picture has a new address.",
    tag: "sessions",
    params: z.object({ picture: z.string() }),
    answers: {
      200: {
        mediaType: "image/jpeg",
        schema: z.string().describe("A square of 32 to 512 pixels, without metadata."),
        headers: { "Cache-Control": "A day, for browsers alone." },
      },
      404: "There is no such picture.",
    },
  }),
  described(address("POST", "/logout", logoutHandler, "plain", "public"), {
    id: "logOut",
    summary: "End the session",
    tag: "sessions",
    security: "session",
    query: z.object({
      redirect_to: z
        .string()
        .optional()
        .describe(
          "Where the browser goes on after the sign-out at applications and at the identity provider: an address that users may return to from a sign-in there. Default: the page.",
        ),
    }),
    answers: {
      200: {
        description:
          "For a form of the account page, a page that goes on to the sign-out at the identity provider.",
        schema: z.string(),
        mediaType: "text/html",
      },
      204: {
        description: "The session has ended.",
        headers: {
          "Set-Cookie": "Removes the cookies.",
          "X-Provider-Logout":
            "The address to open next, so that sessions at applications (`frontchannel_logout_uri`) and at the identity provider end too. Absent if none does.",
        },
      },
      303: {
        description: "The same for a form of the account page.",
        headers: { Location: "The page, or the one that signs the browser out of applications." },
      },
      401: NO_SESSION,
      403: "Cross-site requests are not allowed.",
    },
  }),
  described(address("GET", "/sessions/validate", validateHandler, "plain", "public"), {
    id: "validateSession",
    summary: "Whether the caller's session is valid",
    description: "Does not count as use of the session.",
    tag: "sessions",
    security: "optional-session",
    answers: {
      200: { schema: validation },
      401: {
        description:
          "The cookie that proves the device is missing: the session is bound to one, or has to be (`session.device_bound`).",
        schema: validation,
        headers: { "WWW-Authenticate": 'Bearer error="binding_required"' },
      },
    },
  }),
  described(address("POST", "/sessions/validate", validateTokenHandler, "plain", "public"), {
    id: "validateToken",
    summary: "Whether a session token is valid",
    description: "For servers of applications. Counts as use of the session.",
    tag: "sessions",
    body: tokenToValidate,
    answers: {
      200: { schema: validation },
      400: "`session_token` is missing.",
      413: "The body is too large.",
    },
  }),
  tagged(
    "sessions",
    operation("GET /forward-auth", {
      id: "forwardAuth",
      summary: "Tell a reverse proxy whether a request has a session",
      description:
        "For nginx, Caddy, Traefik, HAProxy and others that ask before they pass a request on. Counts as use of the session. A character of a header's value that is not visible ASCII, and `%`, is percent-encoded as UTF-8. The way back is the address that a proxy of `server.trusted_proxies` names in `X-Forwarded-Proto`, `-Host` and `-Uri`, or in `X-Original-URL`, if `hosted.allowed_redirect_urls` has it.",
      // Proxies call it: no other origin may, and no person reads its errors.
      errorShape: "admin",
      security: "optional-session",
      query: z.object({
        redirect: z
          .literal("1")
          .optional()
          .describe("Answers 302 in place of 401 where a browser can follow."),
      }),
      answers: {
        204: {
          description: "There is a valid session.",
          headers: {
            "X-Stile-User-Id": "The id of the user.",
            "X-Stile-Session-Id": "The id of the session.",
            "X-Stile-Acting-User-Id": "The id of the operator who acts as the user, or empty.",
            "X-Stile-Email": "The primary address if it is verified, else empty.",
            "X-Stile-Username": "The username, or empty.",
            "X-Stile-Token":
              "The session token. Empty where a script of the service's own pages would read it.",
          },
        },
        302: {
          description: "There is none, and `redirect=1`.",
          headers: { Location: "The sign-in, with the way back." },
        },
        400: "The query is invalid.",
        401: {
          description: "There is none.",
          schema: plainErrorSchema,
          headers: { Location: "The sign-in, with the way back. Absent for requests of scripts." },
        },
      },
      handler: (context, { query }) => forwardAuth(context, query.redirect === "1"),
    }),
  ),
  described(address("POST", "/token", tokenHandler, "plain", "public"), {
    id: "redeemCode",
    summary: "Exchange an authorization code for the user's session",
    description: "For servers of applications whose users sign in on the hosted page.",
    tag: "sessions",
    body: codeRedemption,
    answers: {
      200: { schema: redeemedSession },
      400: "The code, its verifier or the address is not accepted.",
      413: "The body is too large.",
    },
  }),
  described(address("POST", REGISTRATION_PATH, registrationHandler, "plain", "public"), {
    id: "bindSession",
    summary: "Bind the session to a key of the browser's device",
    description:
      "Called by browsers, after an answer with `Secure-Session-Registration` (device-bound session credentials).",
    tag: "sessions",
    security: "session",
    headers: z.object({
      "Secure-Session-Response": z.string().describe("The proof, a JWT, as a structured string (RFC 9651)."),
    }),
    answers: {
      200: { schema: bindingInstructions, headers: { "Set-Cookie": "The bound cookie." } },
      400: "The proof is not valid, or its challenge has expired.",
      401: NO_SESSION,
      404: "Sessions are not bound (`session.device_bound`).",
      409: "The session is bound already, or servers of another release run.",
    },
  }),
  described(address("POST", REFRESH_PATH, refreshHandler, "plain", "public"), {
    id: "renewBinding",
    summary: "Renew the cookie of a bound session",
    description: "Called by browsers. Without the proof of a fresh challenge it is answered with one.",
    tag: "sessions",
    headers: z.object({
      "Sec-Secure-Session-Id": z.string().describe("The session, as a structured string."),
      "Secure-Session-Response": z.string().optional().describe("The proof, a JWT, as a structured string."),
    }),
    answers: {
      200: { schema: bindingInstructions, headers: { "Set-Cookie": "The bound cookie." } },
      400: "The proof is not valid.",
      403: {
        description: "A proof is needed.",
        schema: plainErrorSchema,
        headers: { "Secure-Session-Challenge": "What to sign." },
      },
      404: "The session has ended.",
      429: "Too many requests from this source.",
    },
  }),
  described(address("GET", "/.well-known/device-bound-sessions", wellKnownHandler, "plain", "public"), {
    id: "getRegisteringOrigins",
    summary: "Get the origins that may bind sessions of the whole site",
    tag: "sessions",
    answers: { 200: { schema: registeringOrigins }, 404: "Sessions are not bound (`session.device_bound`)." },
  }),
  described(address("GET", "/.well-known/jwks.json", jwksHandler, "plain", "public"), {
    id: "getKeys",
    summary: "Get the public keys that verify tokens",
    tag: "keys",
    answers: { 200: { schema: keySet, headers: { "Cache-Control": "Ten minutes." } } },
  }),
];
