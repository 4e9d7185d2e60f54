import { z } from "zod";
import { address } from "../table/address.ts";
import { described } from "../table/operation.ts";
import { providerTestPageHandler, startProviderTestHandler } from "./provider-test.ts";
import { samlAuthHandler, samlMetadataHandler } from "./saml.ts";
import { samlCallbackHandler } from "./saml-callback.ts";
import { samlLogoutHandler } from "./saml-logout.ts";
import { providerLogoutHandler, signedOutAtProviderHandler } from "./sign-out.ts";
import { thirdPartyCallbackHandler } from "./third-party-callback.ts";

const providerAnswer = z.looseObject({
  state: z.string().optional(),
  code: z.string().optional(),
  error: z.string().optional(),
  error_description: z.string().optional(),
  iss: z.string().optional(),
});

const back = {
  204: "The same request as HEAD, which changes nothing.",
  303: {
    description:
      "Back to the page or the application, with `hanko_token`, or with `error` and `error_description`.",
    headers: { Location: "Address of the page or the application." },
  },
};

const DISABLED = "SAML is disabled.";
const NO_PROVIDER = "No provider is configured for this domain.";

const signedOutAnswer = {
  description: "A page that says that the user is signed out.",
  schema: z.string(),
  mediaType: "text/html",
};

const signOutState = z.object({ state: z.string().optional() });

/** What identity providers and browsers on their way to them call. */
export const providerAddresses = [
  described(address("GET", "/thirdparty/callback", thirdPartyCallbackHandler, "plain", "public"), {
    id: "receiveProviderAnswer",
    summary: "Receive the answer of an identity provider",
    tag: "providers",
    query: providerAnswer,
    answers: back,
  }),
  described(address("POST", "/thirdparty/callback", thirdPartyCallbackHandler, "plain", "public"), {
    id: "receiveProviderForm",
    summary: "Receive the answer of an identity provider as a form",
    description: "`response_mode=form_post`, as Apple answers.",
    tag: "providers",
    body: providerAnswer,
    bodyType: "application/x-www-form-urlencoded",
    answers: back,
  }),
  described(address("GET", "/thirdparty/test", providerTestPageHandler, "plain", "public"), {
    id: "askBeforeProviderTest",
    summary: "Tell who is shown the result of a test sign-in",
    description: "It uses nothing up.",
    tag: "providers",
    query: z.object({ ticket: z.string().optional().describe("Of a test that the console began.") }),
    answers: {
      200: { schema: z.string().describe("A page with one button."), mediaType: "text/html" },
      404: "There is no ticket.",
    },
  }),
  described(address("POST", "/thirdparty/test", startProviderTestHandler, "plain", "same-origin"), {
    id: "startProviderTest",
    summary: "Send a browser to an identity provider for a test sign-in",
    tag: "providers",
    body: z.object({ ticket: z.string() }),
    bodyType: "application/x-www-form-urlencoded",
    answers: {
      200: {
        schema: z.string().describe("A page that goes on to the provider, or to the result."),
        mediaType: "text/html",
      },
      400: "The form is malformed.",
      403: "Only same-origin requests are allowed.",
      404: "The ticket is unknown, or was used.",
      413: "The body is too large.",
    },
  }),
  described(address("GET", "/saml/metadata", samlMetadataHandler, "plain", "public"), {
    id: "getSamlMetadata",
    summary: "Get the metadata of the SAML service provider",
    tag: "providers",
    query: z.object({
      domain: z.string().describe("Mail domain of a configured provider."),
      cert_only: z
        .string()
        .optional()
        .describe("`true`: the certificate alone; `encryption`: the one to encrypt for."),
    }),
    answers: {
      200: { schema: z.string(), mediaType: "application/samlmetadata+xml" },
      403: DISABLED,
      404: NO_PROVIDER,
    },
  }),
  described(address("GET", "/saml/auth", samlAuthHandler, "plain", "public"), {
    id: "startSaml",
    summary: "Send a browser to the identity provider of a mail domain",
    tag: "providers",
    query: z.object({
      domain: z.string(),
      redirect_to: z.string().optional().describe("An allowed address; it receives `hanko_token`."),
    }),
    answers: {
      ...back,
      307: { description: "To the identity provider.", headers: { Location: "With the request (SAML)." } },
      403: "SAML is disabled, or the request is no top-level navigation.",
    },
  }),
  described(address("POST", "/saml/callback", samlCallbackHandler, "plain", "public"), {
    id: "receiveSamlResponse",
    summary: "Receive the response of a SAML identity provider",
    tag: "providers",
    body: z.looseObject({ SAMLResponse: z.string(), RelayState: z.string().optional() }),
    bodyType: "application/x-www-form-urlencoded",
    answers: {
      303: back[303],
      403: DISABLED,
      413: "The body is too large.",
    },
  }),
  described(address("GET", "/saml/logout", samlLogoutHandler, "plain", "public"), {
    id: "receiveSamlLogout",
    summary: "Receive a message of SAML single logout",
    description:
      "The answer of an identity provider to a request to sign out, or its request to end the sessions of a user here (SAML Profiles 2.0, 4.4). Only with `single_logout` of the provider.",
    tag: "providers",
    query: z.looseObject({
      SAMLRequest: z.string().optional(),
      SAMLResponse: z.string().optional(),
      RelayState: z.string().optional(),
      SigAlg: z.string().optional(),
      Signature: z.string().optional(),
    }),
    answers: {
      200: signedOutAnswer,
      204: back[204],
      303: {
        description: "To the provider with the answer, or to where the sign-out was to lead.",
        headers: { Location: "Address of the provider, the page or the application." },
      },
      400: "The message could not be verified. To an answer to a request of this service, a page that says that the user is signed out.",
      403: DISABLED,
      429: "Too many requests from this source.",
    },
  }),
  described(address("GET", "/logout/provider", providerLogoutHandler, "plain", "public"), {
    id: "goToProviderLogout",
    summary: "Send a browser that has signed out to its identity provider",
    description: "The session here has ended. `X-Provider-Logout` of the sign-out is this address.",
    tag: "providers",
    query: signOutState,
    answers: {
      200: signedOutAnswer,
      204: back[204],
      303: {
        description: "To the provider, or, where it cannot be asked, to where the sign-out was to lead.",
        headers: { Location: "Address of the provider, the page or the application." },
      },
    },
  }),
  described(address("GET", "/thirdparty/logout", signedOutAtProviderHandler, "plain", "public"), {
    id: "returnFromProviderLogout",
    summary: "Return from the sign-out at an identity provider",
    description:
      "`post_logout_redirect_uri` of OpenID Connect RP-Initiated Logout 1.0, to be registered with the provider.",
    tag: "providers",
    query: signOutState,
    answers: {
      200: signedOutAnswer,
      204: back[204],
      303: {
        description: "To where the sign-out was to lead.",
        headers: { Location: "Address of the page or the application." },
      },
    },
  }),
];
