import { z } from "zod";
import { flowTypes } from "../../flow/names.ts";
import { MAILED_LINK_PATH } from "../../methods/mailed-link/mailed-link.ts";
import { wordFileNames } from "../../theme/own-words.ts";
import { themeFileNames } from "../../theme/theme-files.ts";
import { anyFlowState, movedFlowInput, pageActionInput, pageStartInput } from "../flow/schemas.ts";
import { address } from "../table/address.ts";
import { described } from "../table/operation.ts";
import { trpcHandler } from "../trpc/handler.ts";
import { assetHandler } from "./asset.ts";
import { loaderHandler, loaderPartHandler } from "./embed-script.ts";
import { mailedLinkHandler, pressedLinkHandler } from "./mailed-link.ts";
import { stepHandler } from "./step.ts";
import { themeHandler } from "./theme.ts";

const trpcError = z
  .object({
    error: z.object({ message: z.string(), code: z.int(), data: z.record(z.string(), z.unknown()) }),
  })
  .meta({ id: "TrpcError" });

const html = { mediaType: "text/html", schema: z.string() };
const endedCode = { ...html, description: "The code is used, replaced, expired or without attempts." };

const toPage = (description: string) => ({ description, headers: { Location: "Address of the page." } });

/** What our own pages call; requests of other origins are rejected, but for calls of procedures from listed ones. */
export const pageAddresses = [
  described(address("GET", "/embed.js", loaderHandler, "plain", "public"), {
    id: "getEmbedScript",
    summary: "Get the loader of the frame",
    tag: "page",
    answers: {
      200: { mediaType: "text/javascript", schema: z.string().describe("It defines `Stile`.") },
      404: "The pages are not built.",
    },
  }),
  described(address("GET", "/embed-sign-in.js", loaderPartHandler, "plain", "public"), {
    id: "getEmbedSignInScript",
    summary: "Get the part of the loader that signs in at once",
    description: "A module, which `Stile.signIn` loads.",
    tag: "page",
    answers: {
      200: { mediaType: "text/javascript", schema: z.string() },
      404: "The pages are not built.",
    },
  }),
  described(address("GET", "/assets/{file}", assetHandler, "plain", "public"), {
    id: "getPageAsset",
    summary: "Get a file of the hosted pages",
    description:
      "A script, the style sheet or the icon. Pages name them; a name contains a digest of the content.",
    tag: "page",
    params: z.object({ file: z.string() }),
    answers: {
      200: {
        schema: z.string(),
        mediaType: "text/javascript",
        headers: { "Cache-Control": "A year." },
      },
      404: "There is no such file.",
    },
  }),
  described(address("POST", "/step", stepHandler, "plain", "same-origin"), {
    id: "stepByForm",
    summary: "Perform an action in a browser without scripts",
    description: "The other fields are the input of the action.",
    tag: "page",
    body: z.looseObject({
      flow: z.enum(flowTypes),
      action: z.string(),
      version: z.string().regex(/^\d{1,9}$/),
      with_script: z
        .literal("true")
        .optional()
        .describe("The form was shown because scripts run, so the browser may sign in with a passkey."),
    }),
    bodyType: "application/x-www-form-urlencoded",
    answers: {
      303: toPage("The page, which shows the result."),
      400: "The form cannot be read.",
      403: "Only same-origin requests are allowed.",
      413: "The form is too large.",
    },
  }),
  described(address("GET", MAILED_LINK_PATH, mailedLinkHandler, "plain", "public"), {
    id: "getMailedLinkPage",
    summary: "Open the link in the mail of a code",
    description:
      "A page with one button, with `email.links`. Programs that look through mails follow links, so this uses nothing.",
    tag: "page",
    query: z.object({ token: z.string() }),
    answers: {
      200: html,
      400: "The address is incomplete or of another tenant.",
      410: endedCode,
    },
  }),
  described(address("POST", MAILED_LINK_PATH, pressedLinkHandler, "plain", "same-origin"), {
    id: "pressMailedLink",
    summary: "Use the link in the mail of a code",
    description:
      "In the browser that holds the flow this is its action `verify_passcode`; any other is shown the code.",
    tag: "page",
    body: z.object({ token: z.string() }),
    bodyType: "application/x-www-form-urlencoded",
    answers: {
      200: { ...html, description: "A page that shows the code." },
      303: toPage("The page of the flow, which shows the result."),
      400: "The form cannot be read, or its token is incomplete or of another tenant.",
      403: "Only same-origin requests are allowed.",
      410: endedCode,
      413: "The form is too large.",
    },
  }),
  described(address("POST", "/api/trpc/{procedure}", trpcHandler, "plain", "listed-origin"), {
    id: "callProcedure",
    summary: "Call a procedure of a flow",
    description:
      "tRPC; the client of `@trpc/client` calls it, with the type of the router from `@stile-auth/server/trpc`.",
    tag: "page",
    params: z.object({
      procedure: z.enum(["flow.start", "flow.act", "flow.current", "flow.move", "flow.continue"]),
    }),
    headers: z.object({
      "X-Stile-Frame": z
        .string()
        .optional()
        .describe(
          "The page in whose frame the call is made: `origin` and `code_challenge`, as in the query of `/embed`.",
        ),
      "X-Stile-Flow": z
        .string()
        .optional()
        .describe("Of a page of another origin: `flow_token` of the last answer that had one."),
    }),
    body: z.union([pageStartInput, pageActionInput, movedFlowInput]),
    answers: {
      200: {
        schema: z.object({
          result: z.object({
            data: z.object({
              version: z.int(),
              state: anyFlowState,
              support_number: z
                .string()
                .optional()
                .describe("What a user tells an operator of the flow by. For our own pages alone."),
              redirect_to: z.string().optional().describe("Address that the browser goes to next."),
              flow_token: z
                .string()
                .optional()
                .describe(
                  "For a page of another origin alone: the flow, for `X-Stile-Flow` of its next call.",
                ),
            }),
          }),
        }),
      },
      400: { description: "The call is malformed.", schema: trpcError },
      403: "Only pages of this origin and of `cors.allow_origins` may call, and frames of pages in `embed.origins`.",
      404: { description: "There is no such procedure.", schema: trpcError },
      413: { description: "The body is too large.", schema: trpcError },
    },
  }),
  described(address("GET", "/theme/{version}/{file}", themeHandler, "plain", "public"), {
    id: "getThemeFile",
    summary: "Get a file of the tenant's theme",
    description:
      "An image, or its own texts in a language by their paths. Pages name the current version; that of the texts is in `X-Words` of flow answers.",
    tag: "page",
    params: z.object({ version: z.string(), file: z.enum([...themeFileNames, ...wordFileNames]) }),
    answers: {
      200: {
        schema: z.string(),
        mediaType: "image/png",
        headers: { "Cache-Control": "A year, for the current version." },
      },
      404: "The theme has no such file.",
    },
  }),
];
