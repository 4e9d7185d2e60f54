import { z } from "zod";
import { languageTags } from "#words/language-tags";
import { type FlowType, isOfSession } from "../../flow/names.ts";
import { codeChallengePattern } from "../../lib/pkce.ts";
import { openidPaths } from "../../openid/paths.ts";
import { MAX_USER_CODE_CHARACTERS } from "../../openid/user-code.ts";
import { plainErrorSchema } from "../openapi/schemas.ts";
import {
  consentPageHandler,
  devicePageHandler,
  profilePageHandler,
  registrationPageHandler,
  tokenExchangePageHandler,
} from "../page/flow-links.ts";
import { loginPageHandler } from "../page/login-page.ts";
import { address } from "../table/address.ts";
import type { Handler } from "../table/handler-context.ts";
import { described } from "../table/operation.ts";
import { flowHandler } from "./call-flow.ts";
import { flowGraphHandler } from "./graph.ts";
import { requestOptionsHandler } from "./request-options.ts";
import { flowRequest, flowState, unstartedOptions } from "./schemas.ts";
import { tokenExchangeHandler } from "./token-exchange.ts";

const query = z.object({
  action: z
    .string()
    .regex(/^(?:[A-Za-z0-9_-]{1,64}@[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})?$/)
    .optional()
    .describe("`<name>@<flow id>`, as in the `href` of an offered action. Without it a flow starts."),
});

/** The query of a flow that signs in. */
const signInQuery = query.extend({
  code_challenge: z
    .string()
    .regex(codeChallengePattern)
    .optional()
    .describe(
      "At the start: an S256 challenge (RFC 7636, 4.2). `success` then carries `payload.authorization_code` in place of the session, for the application's server to redeem at `POST /token` within a minute.",
    ),
  code_challenge_method: z.literal("S256").optional(),
});

/** The query of a login. */
const loginQuery = signInQuery.extend({
  request: z
    .string()
    .max(64)
    .optional()
    .describe(
      "At the start: the authorization request with `prompt=select_account` for which the user chooses an account of this browser.",
    ),
});

/** The query of a flow that asks a user about an authorization request. */
const consentQuery = query.extend({
  request: z
    .string()
    .max(64)
    .optional()
    .describe("At the start: the authorization request, as the address of the page names it."),
  user_code: z
    .string()
    .max(MAX_USER_CODE_CHARACTERS)
    .optional()
    .describe("At the start, without `request`: what the field for the code of a device is filled with."),
});

const queries = { login: loginQuery, profile: query, consent: consentQuery } as Partial<
  Record<FlowType, z.ZodObject>
>;

/** Statuses of errors that a flow reports in its state. */
const errorStatuses: Record<number, string> = {
  400: "The input was rejected; the state is unchanged, or tells what is wrong.",
  401: "The proof was rejected.",
  403: "The action is not permitted, its token is not the last one, or another request performs a step.",
  404: "There is no such thing.",
  409: "A concurrent change came first.",
  410: "The flow has expired.",
  413: "The body is too large.",
  429: "Too many requests; `payload.retry_after` in seconds.",
  500: "An unexpected error.",
  503: "The service is temporarily unavailable.",
};

const answerHeaders = {
  "X-Auth-Token": "The session token, at `success`, if `session.enable_auth_token_header` is set.",
  "X-Session-Lifetime": "Seconds until the session expires, at `success`.",
  "X-Session-Retention": "`session` or `persistent`, at `success`: the kind of cookie.",
  "X-Words":
    "Version and languages of the tenant's own texts, if it has any: `/theme/{version}/words-{language}.json`.",
  "Set-Cookie": "The session, and what the browser is recognized by.",
};

function flowRow(type: FlowType, handler: Handler, id: string, summary: string, description: string) {
  const schema = flowState(type);
  const failed = Object.entries(errorStatuses).map(([status, text]) => [
    Number(status),
    { description: text, schema },
  ]);
  return described(address("POST", `/${type}`, handler, "flow", "public"), {
    id,
    summary,
    description,
    tag: "flow",
    security: isOfSession(type) ? "session" : "none",
    query: queries[type] ?? signInQuery,
    headers: z.object({
      "X-Language": z
        .string()
        .optional()
        .describe(
          `Language of mails: ${languageTags
            .toSorted()
            .map((tag) => `\`${tag}\``)
            .join(", ")}.`,
        ),
    }),
    body: flowRequest(type),
    bodyOptional: true,
    answers: {
      200: {
        description: "The state of the flow.",
        schema,
        headers: answerHeaders,
      },
      ...Object.fromEntries(failed),
    },
  });
}

/** What leads a browser to the page of the login or the registration. */
const pageQuery = z.object({
  redirect_to: z.string().optional().describe("An address of `hosted.allowed_redirect_urls`."),
  code_challenge: z.string().regex(codeChallengePattern).optional().describe("S256 (RFC 7636, 4.2)."),
  code_challenge_method: z.literal("S256").optional(),
  state: z.string().max(512).optional().describe("Returned unchanged."),
  login_hint: z
    .string()
    .max(254)
    .optional()
    .describe("With `redirect_to`: what the field for the identifier is filled with."),
  acr_values: z
    .string()
    .optional()
    .describe("With `redirect_to`: classes of authentication, one of which the sign-in should meet."),
  prompt: z
    .string()
    .optional()
    .describe(
      "`select_account`, with the address of an authorization request: lets the user choose an account of the browser.",
    ),
  lang: z.string().optional().describe("The language of the page (BCP 47)."),
});

const toPage = { description: "The hosted page.", headers: { Location: "Address of the page." } };

const refusedWay = {
  description: "The address or the challenge is not accepted. A browser receives a page.",
  schema: plainErrorSchema,
};

/** The address of a flow in a browser. */
function pageRow(type: FlowType, handler: Handler, id: string, summary: string, query?: z.ZodObject) {
  return described(address("GET", `/${type}`, handler, "flow", "public"), {
    id,
    summary,
    description: "For browsers, whose `Accept` has `text/html`.",
    tag: "page",
    ...(query ? { query } : {}),
    answers: {
      303: toPage,
      ...(query ? { 400: refusedWay } : {}),
      405: "The client is a program: flows are started with POST.",
    },
  });
}

/** The flow interface (docs/reference/states.md). */
export const flowAddresses = [
  flowRow(
    "login",
    flowHandler("login"),
    "login",
    "Start a login, or perform an action of it",
    "Without `action` in the address a flow starts, in the state `preflight`, or by a first action that the body names. Each state offers actions, whose `href` is the address of the next request. The interface is the Flow API, version 3.0.4.",
  ),
  described(address("GET", "/login", loginPageHandler, "flow", "public"), {
    id: "openLoginPage",
    summary: "Send a browser to the hosted page",
    description:
      "With `redirect_to` the user comes back to the application with `code`, which its server redeems at `POST /token`.",
    tag: "page",
    query: pageQuery.extend({ flow: z.enum(["login", "registration"]).optional() }),
    answers: { 303: toPage, 400: refusedWay },
  }),
  described(address("GET", "/login/request_options", requestOptionsHandler, "plain", "public"), {
    id: "getRequestOptions",
    summary: "Get request options for a passkey login that is not started",
    description:
      "For `navigator.credentials.get`. The response begins a login: `POST /login` with the action `webauthn_verify_assertion_response`. Nothing is stored; the challenge serves once, within five minutes, and not in a browser that other accounts have signed in with: ask with the same cookies as the login, in a page with the credentials mode `include`. Pages of `cors.allow_origins` may ask.",
    tag: "flow",
    security: "none",
    answers: {
      200: { schema: unstartedOptions },
      403: "The origin is not allowed.",
      404: "Passkeys are disabled.",
      429: "Too many requests; `Retry-After` in seconds.",
    },
  }),
  flowRow(
    "registration",
    flowHandler("registration"),
    "register",
    "Start a registration, or perform an action of it",
    "As `POST /login`.",
  ),
  pageRow(
    "registration",
    registrationPageHandler,
    "openRegistrationPage",
    "Send a browser to the page of the registration",
    pageQuery,
  ),
  flowRow(
    "profile",
    flowHandler("profile"),
    "manageAccount",
    "Start a visit of the account, or perform an action of it",
    "As `POST /login`, with the session of the user.",
  ),
  pageRow("profile", profilePageHandler, "openAccountPage", "Send a browser to the account page"),
  flowRow(
    "consent",
    flowHandler("consent"),
    "answerApplication",
    "Ask a user about an authorization request, or answer it",
    "As `POST /login`, with the session of the user. An application that is not the operator's own asks for what it wants to know and do (`openid.clients`).",
  ),
  pageRow(
    "consent",
    consentPageHandler,
    "openConsentPage",
    "Send a browser to the question of an application",
    z.object({ request: z.string().optional().describe("The authorization request.") }),
  ),
  described(address("GET", openidPaths.code_verification, devicePageHandler, "flow", "public"), {
    id: "openDevicePage",
    summary: "Send a browser to the page for the code of a device",
    description:
      "RFC 8628, 3.3. For browsers, whose `Accept` has `text/html`. Only with `openid.device_flow`.",
    tag: "page",
    query: z.object({
      user_code: z.string().optional().describe("Fills the field for the code."),
      lang: z.string().optional(),
    }),
    answers: { 303: toPage, 405: "The client is a program: flows are started with POST." },
  }),
  flowRow(
    "token_exchange",
    tokenExchangeHandler,
    "exchangeToken",
    "Continue a sign-in that an identity provider started",
    "Only if SAML is enabled.",
  ),
  pageRow(
    "token_exchange",
    tokenExchangePageHandler,
    "openTokenExchangePage",
    "Send a browser to the page of a sign-in that a provider started",
  ),
];

/** The graph of the flows. */
export const graphAddress = described(
  address("GET", "/.well-known/flow-graph.json", flowGraphHandler, "plain", "public"),
  {
    id: "getFlowGraph",
    summary: "Get every declared state, transition and error",
    tag: "keys",
    answers: { 200: { schema: z.record(z.string(), z.unknown()).meta({ id: "FlowGraph" }) } },
  },
);
