import { z } from "zod";
import { applicationsLogoutPath, discoveryPaths, openidPaths } from "../../openid/paths.ts";
import { oauthErrorSchema } from "../openapi/schemas.ts";
import { address } from "../table/address.ts";
import { described } from "../table/operation.ts";
import { applicationHandler, browserHandler, formHandler, limited } from "./answer-by-provider.ts";
import { applicationsLogoutHandler } from "./applications-logout.ts";
import { clientHandler } from "./client-requests.ts";
import { deviceHandler } from "./device.ts";
import { logoutHandler, postedLogoutHandler } from "./logout.ts";
import { registrationHandler } from "./registration.ts";

const form = "application/x-www-form-urlencoded";

const refused = (description: string) => ({ description, schema: oauthErrorSchema });
const unauthorized = refused("The client is not authenticated.");
const tooManyFailures = refused("Too many requests of the client from this source have failed.");
const tooManyRequestsOrFailures = refused(
  "Too many requests from this source, or too many of the client have failed.",
);
const invalid = refused("The request is invalid; `error` is that of the standard.");

const authorizationRequest = z.looseObject({
  client_id: z.string(),
  redirect_uri: z.string().optional(),
  response_type: z.string().optional(),
  scope: z.string().optional(),
  state: z.string().optional(),
  nonce: z.string().optional(),
  code_challenge: z.string().optional().describe("S256 (RFC 7636, 4.2); required."),
  code_challenge_method: z.string().optional(),
  prompt: z.string().optional(),
  max_age: z.string().optional(),
  resource: z.string().optional().describe("RFC 8707."),
  request_uri: z.string().optional().describe("RFC 9126."),
});

const backToApplication = {
  303: {
    description:
      "To the sign-in page, or back to the application with `code`, `state` and `iss`, or `error`.",
    headers: { Location: "Address of the page or the application." },
  },
  400: refused("The client or its address is not known, so that nothing is sent there."),
  404: "The OpenID provider is off.",
  429: refused("Too many requests from this source."),
};

const logoutRequest = z.object({
  id_token_hint: z.string().optional().describe("The ID token of the user; without one the page asks."),
  client_id: z.string().optional(),
  post_logout_redirect_uri: z
    .string()
    .optional()
    .describe("One of `post_logout_redirect_uris` of the client."),
  state: z.string().optional(),
});

const signedOutAnswers = {
  200: {
    description: "A page that asks, or that says that the user is signed out.",
    schema: z.string(),
    mediaType: "text/html",
  },
  303: {
    description:
      "Back to the application; before, to the identity provider, and to the page that signs the browser out of applications.",
    headers: { Location: "`post_logout_redirect_uri` with `state`, or address of this service." },
  },
  400: refused("The request is invalid."),
  404: "The OpenID provider is off.",
};

const tokenType = z.looseObject({ token: z.string(), token_type_hint: z.string().optional() });

const metadata = z
  .looseObject({
    issuer: z.url(),
    authorization_endpoint: z.url(),
    token_endpoint: z.url(),
    jwks_uri: z.url(),
  })
  .meta({ id: "OpenidConfiguration" });

const userinfo = z.looseObject({ sub: z.string() }).meta({ id: "UserInfo" });

/** What applications call that let their users sign in here by OpenID Connect, and where they send browsers. */
export const openidAddresses = [
  described(address("GET", discoveryPaths[0], applicationHandler, "oauth", "public"), {
    id: "getOpenidConfiguration",
    summary: "Get the metadata of the OpenID provider",
    description: "OpenID Connect Discovery 1.0, 4.",
    tag: "openid",
    answers: { 200: { schema: metadata }, 404: "The OpenID provider is off." },
  }),
  described(address("GET", discoveryPaths[1], applicationHandler, "oauth", "public"), {
    id: "getAuthorizationServerMetadata",
    summary: "Get the metadata of the authorization server",
    description: "RFC 8414, 3.",
    tag: "openid",
    answers: { 200: { schema: metadata }, 404: "The OpenID provider is off." },
  }),
  described(address("GET", openidPaths.authorization, limited(browserHandler), "oauth", "public"), {
    id: "authorize",
    summary: "Send a browser to sign in for an application",
    description: "OpenID Connect Core 1.0, 3.1.2.",
    tag: "openid",
    security: "optional-session",
    query: authorizationRequest,
    answers: backToApplication,
  }),
  described(address("POST", openidPaths.authorization, formHandler, "oauth", "public"), {
    id: "authorizeByForm",
    summary: "Send a browser to sign in for an application by a form",
    description: "OpenID Connect Core 1.0, 3.1.2.1.",
    tag: "openid",
    security: "optional-session",
    body: authorizationRequest,
    bodyType: form,
    answers: {
      303: {
        description: "To the same request in the address.",
        headers: { Location: "Address of the request." },
      },
      400: refused("The form cannot be read."),
      404: "The OpenID provider is off.",
      413: refused("The form is too large."),
    },
  }),
  described(
    address("GET", `${openidPaths.authorization}/{request}`, limited(browserHandler), "oauth", "public"),
    {
      id: "resumeAuthorization",
      summary: "Return to an authorization request after the sign-in",
      tag: "openid",
      security: "optional-session",
      params: z.object({ request: z.string() }),
      answers: backToApplication,
    },
  ),
  described(address("GET", openidPaths.end_session, logoutHandler, "oauth", "public"), {
    id: "endSessionForApplication",
    summary: "Sign out for an application",
    description: "OpenID Connect RP-Initiated Logout 1.0.",
    tag: "openid",
    security: "optional-session",
    query: logoutRequest,
    answers: signedOutAnswers,
  }),
  described(address("GET", applicationsLogoutPath, applicationsLogoutHandler, "oauth", "public"), {
    id: "signOutOfApplications",
    summary: "Sign a browser out of applications",
    description:
      "OpenID Connect Front-Channel Logout 1.0. The session here has ended. A sign-out leads here, or names this address in `X-Provider-Logout`, where applications have a `frontchannel_logout_uri`.",
    tag: "openid",
    query: z.object({ state: z.string().optional() }),
    answers: {
      200: {
        description: "A page that loads the addresses of the applications in frames, and goes on.",
        schema: z.string(),
        mediaType: "text/html",
      },
      204: "For `HEAD`.",
      303: {
        description: "The sign-out is not known any more.",
        headers: { Location: "Address of the page." },
      },
      404: "The OpenID provider is off.",
    },
  }),
  described(address("POST", openidPaths.end_session, postedLogoutHandler, "oauth", "public"), {
    id: "endSessionByForm",
    summary: "Sign out for an application by a form",
    tag: "openid",
    security: "optional-session",
    body: logoutRequest.extend({ pressed: z.literal("true").optional() }),
    bodyType: form,
    answers: signedOutAnswers,
  }),
  described(address("POST", openidPaths.token, clientHandler, "oauth", "public"), {
    id: "issueTokens",
    summary: "Exchange a code, that of a device, or a refresh token for tokens",
    description: "RFC 6749, 4.1.3, 4.4.2 and 6; RFC 8628, 3.4; RFC 8693, 2.1.",
    tag: "openid",
    body: z.looseObject({ grant_type: z.string() }),
    bodyType: form,
    answers: {
      200: {
        schema: z
          .looseObject({ access_token: z.string(), token_type: z.string(), expires_in: z.int() })
          .meta({ id: "OauthTokens" }),
      },
      400: invalid,
      401: unauthorized,
      404: "The OpenID provider is off.",
      429: tooManyFailures,
    },
  }),
  described(address("POST", openidPaths.device_authorization, limited(deviceHandler), "oauth", "public"), {
    id: "authorizeDevice",
    summary: "Get the codes by which a device without a browser is signed in",
    description:
      "RFC 8628, 3.1. Only with `openid.device_flow`. The device shows `user_code` and `verification_uri`, and asks for its tokens every five seconds; one that asks sooner is told `slow_down`.",
    tag: "openid",
    body: z.looseObject({
      client_id: z.string().optional(),
      scope: z.string().optional(),
      resource: z.string().optional(),
    }),
    bodyType: form,
    answers: {
      200: {
        schema: z
          .looseObject({
            device_code: z.string(),
            user_code: z.string(),
            verification_uri: z.url(),
            verification_uri_complete: z.url(),
            expires_in: z.int(),
          })
          .meta({ id: "DeviceAuthorization" }),
      },
      400: invalid,
      401: unauthorized,
      404: "The OpenID provider or its device flow is off.",
      429: tooManyRequestsOrFailures,
    },
  }),
  described(address("POST", openidPaths.registration, registrationHandler, "oauth", "public"), {
    id: "registerClient",
    summary: "Register an application",
    description:
      "RFC 7591, 3.1. Needs an initial access token as `Bearer` where `openid.registration` is `token`. What is not known is left out; the answer says what was registered.",
    tag: "openid",
    body: z.looseObject({
      redirect_uris: z.array(z.string()),
      client_name: z.string().optional(),
      token_endpoint_auth_method: z.string().optional(),
      grant_types: z.array(z.string()).optional(),
    }),
    answers: {
      201: {
        schema: z
          .looseObject({ client_id: z.string(), redirect_uris: z.array(z.string()) })
          .meta({ id: "RegisteredClient" }),
      },
      400: invalid,
      401: refused("There is no initial access token."),
      404: "The OpenID provider is off, or applications cannot register themselves.",
      413: refused("The body is too large."),
      429: refused("Too many applications have registered from this source."),
    },
  }),
  described(address("GET", openidPaths.userinfo, applicationHandler, "oauth", "public"), {
    id: "getUserInfo",
    summary: "Get claims about the user of an access token",
    description: "OpenID Connect Core 1.0, 5.3; the access token as `Bearer` or `DPoP`.",
    tag: "openid",
    answers: {
      200: { schema: userinfo },
      400: invalid,
      401: unauthorized,
      404: "The OpenID provider is off.",
    },
  }),
  described(address("POST", openidPaths.userinfo, applicationHandler, "oauth", "public"), {
    id: "postUserInfo",
    summary: "Get claims about the user of an access token by POST",
    tag: "openid",
    answers: {
      200: { schema: userinfo },
      400: invalid,
      401: unauthorized,
      404: "The OpenID provider is off.",
    },
  }),
  described(address("POST", openidPaths.introspection, clientHandler, "oauth", "public"), {
    id: "introspectToken",
    summary: "Ask whether a token is valid",
    description: "RFC 7662.",
    tag: "openid",
    body: tokenType,
    bodyType: form,
    answers: {
      200: { schema: z.looseObject({ active: z.boolean() }).meta({ id: "Introspection" }) },
      400: invalid,
      401: unauthorized,
      404: "The OpenID provider is off.",
      429: tooManyFailures,
    },
  }),
  described(address("POST", openidPaths.revocation, clientHandler, "oauth", "public"), {
    id: "revokeToken",
    summary: "Revoke a token",
    description: "RFC 7009.",
    tag: "openid",
    body: tokenType,
    bodyType: form,
    answers: {
      200: { description: "The token is not valid any more." },
      400: invalid,
      401: unauthorized,
      404: "The OpenID provider is off.",
      429: tooManyFailures,
    },
  }),
  described(
    address("POST", openidPaths.pushed_authorization_request, limited(clientHandler), "oauth", "public"),
    {
      id: "pushAuthorizationRequest",
      summary: "Push an authorization request",
      description: "RFC 9126.",
      tag: "openid",
      body: authorizationRequest,
      bodyType: form,
      answers: {
        429: tooManyRequestsOrFailures,
        201: {
          schema: z
            .looseObject({ request_uri: z.string(), expires_in: z.int() })
            .meta({ id: "PushedRequest" }),
        },
        400: invalid,
        401: unauthorized,
        404: "The OpenID provider is off.",
      },
    },
  ),
];
