import { z } from "zod";
import { openProviderTestHandler } from "../providers/provider-test.ts";
import { address } from "../table/address.ts";
import { described } from "../table/operation.ts";
import {
  ACT_AS_PATH,
  actAsHandler,
  IMPERSONATION_PATH,
  impersonationHandler,
  impersonationPageHandler,
} from "./act-as.ts";
import { consoleDownload } from "./download.ts";
import { consolePreview } from "./preview.ts";
import { beginConsoleSignIn, endConsoleSignIn, signOutOfConsole } from "./sign-in.ts";
import { CONSOLE_TRPC, consoleTrpcHandler } from "./trpc.ts";

const toPage = (description: string) => ({ description, headers: { Location: "Address of the page." } });

const html = { mediaType: "text/html", schema: z.string() };
const goneLink = { ...html, description: "The link was used, is too old, or was opened in another browser." };

/** What the pages of the console call. They are served at the host of the console alone. */
export const consoleAddresses = [
  described(address("GET", "/api/console/sign-in", beginConsoleSignIn, "plain", "public"), {
    id: "beginConsoleSignIn",
    summary: "Sign in to the console",
    tag: "console",
    query: z.object({
      tenant: z.string().optional().describe("Whose account signs in. Default: the default tenant."),
      to: z.string().optional().describe("The page of the console that was asked for."),
      flow: z.enum(["registration"]).optional().describe("The user has no account yet."),
      invitation: z.string().optional().describe("The token of the link for the first operator."),
    }),
    answers: {
      303: toPage("The hosted page of the tenant."),
      400: "A parameter is invalid.",
      404: "There is no such tenant, or the console is not served at this host.",
    },
  }),
  described(address("GET", "/api/console/entered", endConsoleSignIn, "plain", "public"), {
    id: "endConsoleSignIn",
    summary: "Return from the sign-in",
    tag: "console",
    query: z.object({ code: z.string().optional(), state: z.string().optional() }),
    answers: {
      303: toPage("The page of the console, or the one that says why the account may not enter."),
      404: "The console is not served at this host.",
    },
  }),
  described(
    address("GET", "/api/console/provider-test/{test_id}", openProviderTestHandler, "plain", "public"),
    {
      id: "openProviderTest",
      summary: "Open a test sign-in at an identity provider",
      description: "Only in the browser of the session of the console that began it, once.",
      tag: "console",
      params: z.object({ test_id: z.string() }),
      answers: {
        204: "The same request as HEAD, which changes nothing.",
        303: toPage("The address that starts the test at the host of the tenant."),
        404: "There is no such test of this session.",
      },
    },
  ),
  described(address("GET", ACT_AS_PATH, actAsHandler, "plain", "public"), {
    id: "goToUser",
    summary: "Go on to sign in as a user",
    description:
      "The address that `impersonateUser` answers, in the browser that is signed in to the console.",
    tag: "console",
    query: z.object({
      ticket: z.string().optional(),
      challenge: z.string().optional().describe("S256 of the secret that the tenant's host has made."),
    }),
    answers: {
      303: toPage("The same at the tenant."),
      404: { ...html, description: "The console is not served at this host." },
      410: goneLink,
    },
  }),
  described(address("GET", IMPERSONATION_PATH, impersonationPageHandler, "plain", "public"), {
    id: "askBeforeImpersonation",
    summary: "Ask before an operator signs in as a user",
    description: "It uses nothing up.",
    tag: "console",
    query: z.object({ ticket: z.string().optional(), code: z.string().optional() }),
    answers: {
      200: { ...html, description: "A page with one button." },
      303: toPage("The console, which makes the code."),
      410: goneLink,
    },
  }),
  described(address("POST", IMPERSONATION_PATH, impersonationHandler, "plain", "same-origin"), {
    id: "beginImpersonation",
    summary: "Sign in as a user",
    description:
      "The browser gets a session of the user in which the operator acts (`act`, RFC 8693). Another session of the browser goes on without it.",
    tag: "console",
    body: z.object({ code: z.string() }),
    bodyType: "application/x-www-form-urlencoded",
    answers: {
      303: toPage("The account page."),
      400: "The form is malformed.",
      403: "Only same-origin requests are allowed.",
      410: {
        ...goneLink,
        description:
          "The code was used, is too old, is of another browser, or the operator may not act as the user any more.",
      },
      413: "The body is too large.",
    },
  }),
  described(address("POST", "/api/console/sign-out", signOutOfConsole, "plain", "same-origin"), {
    id: "signOutOfConsole",
    summary: "Sign out of the console",
    tag: "console",
    answers: { 204: "The browser is signed out.", 403: "Only same-origin requests are allowed." },
  }),
  described(address("POST", "/api/console/download/{operation}", consoleDownload, "plain", "same-origin"), {
    id: "downloadFromConsole",
    summary: "Download what an operation of the administration interface answers",
    description: "An operation that reads. The answer is a file, which is streamed.",
    tag: "console",
    params: z.object({ operation: z.string() }),
    body: z.object({ input: z.string().describe("The input of the procedure, as JSON.") }),
    bodyType: "application/x-www-form-urlencoded",
    answers: {
      200: { schema: z.string(), mediaType: "application/octet-stream" },
      400: "The input is malformed.",
      401: "The browser is not signed in to the console.",
      403: "The role of the account may not read this.",
      404: "There is no such operation, or the console is not served at this host.",
      413: "The body is too large.",
    },
  }),
  described(address("GET", "/api/console/preview", consolePreview, "plain", "same-origin"), {
    id: "getConsolePreview",
    summary: "Get the document that displays previews in pages of the console",
    description: "It is the same for every account, and displays what the page around it sends.",
    tag: "console",
    answers: {
      200: { schema: z.string(), mediaType: "text/html" },
      401: "The browser is not signed in to the console.",
      404: "The console is not served at this host.",
    },
  }),
  described(address("POST", `${CONSOLE_TRPC}/{procedure}`, consoleTrpcHandler, "plain", "same-origin"), {
    id: "callConsoleProcedure",
    summary: "Call an operation of the administration interface",
    description:
      "tRPC, also for queries. The procedures are those of the administration interface by their names, and `me`; an account of the console may call those of its role.",
    tag: "console",
    params: z.object({ procedure: z.string() }),
    body: z.unknown(),
    answers: {
      200: { schema: z.unknown() },
      400: "The call is malformed.",
      403: "Only same-origin requests are allowed.",
      404: "There is no such procedure, or the console is not served at this host.",
      413: "The body is too large.",
    },
  }),
];
