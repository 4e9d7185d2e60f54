import { z } from "zod";
import { languageTags, type PageLanguage, pseudoTags } from "#words/language-tags";
import { textsByPath } from "#words/own-texts";
import { wordsOf } from "#words/words-of";
import type { Config } from "../../config/schema.ts";
import { flowTypes, stateNames } from "../../flow/names.ts";
import type { Tree } from "../../lib/tree.ts";
import { channelNames } from "../../messages/channels.ts";
import { messagePreviews } from "../../preview/message-previews.ts";
import { previewPages } from "../../preview/page-previews.ts";
import { builtGallery } from "../../preview/pictures.ts";
import { judgeSettings } from "../../tenants/manage-tenants.ts";
import type { HandlerContext } from "../table/handler-context.ts";
import { adminOperation } from "./admin-operation.ts";
import { changingParty, FORBIDDEN, INVALID, patched, settingsPatch, tenantOperation } from "./tenants.ts";

/** Pictures of one call: those that a wide screen shows at once. */
const MAX_PICTURES = 24;

/** More than any state has. */
const MAX_ACTIONS = 100;

const name = () => z.string().min(1).max(100);

/** What every preview takes. */
const tried = {
  language: z
    .enum([...languageTags, ...pseudoTags] satisfies PageLanguage[])
    .default("en")
    .describe(
      "Of the texts. `en-XA` is English that is longer, and `ar-XB` English from right to left, to try a layout.",
    ),
  config: settingsPatch()
    .optional()
    .describe(
      "Settings that are tried: a JSON Merge Patch (RFC 7396), which is judged as a change would be. Default: those in force.",
    ),
};

const errors = { 400: INVALID, 403: FORBIDDEN };

const shownState = z
  .strictObject({
    flow: z.enum(flowTypes),
    state: z.enum(stateNames),
    actions: z.array(name()).max(MAX_ACTIONS).describe("The actions that were offered."),
    error: name().optional().describe("The code of the error that was shown."),
    inputs: z
      .array(name())
      .max(MAX_ACTIONS)
      .optional()
      .describe("Names of the inputs that were sent, at which an error of an input is drawn."),
  })
  .describe("A state as a user was shown it. It is drawn with examples in place of values.");

const pagePreviews = z
  .strictObject({
    style: z
      .strictObject({ light: z.string(), dark: z.string() })
      .describe(
        "The style sheet of the theme, beside that of the pages, for visitors with a light and with a dark system.",
      ),
    warnings: z
      .array(z.string())
      .describe("Colours with too little contrast (WCAG 2.2, 1.4.3), and those that pages use instead."),
    direction: z.enum(["ltr", "rtl"]),
    pictures: z
      .array(
        z.strictObject({
          name: z.string().describe("Of the picture, or of the state."),
          markup: z.string().describe("HTML without scripts and without the logo."),
        }),
      )
      .describe("In the order of the request."),
  })
  .meta({ id: "PagePreviews" });

const messagePreview = z
  .strictObject({
    channel: z.enum(channelNames),
    kind: z.string().describe("What the message is for, such as `login`."),
    example: z.string().nullable().describe("Names one of several examples of the message."),
    subject: z.string().nullable().describe("Null for an SMS."),
    text: z.string(),
    html: z.string().nullable().describe("Null for an SMS."),
  })
  .meta({ id: "MessagePreview" });

const replaceableText = z
  .strictObject({
    path: z.string().describe("Its name in the setting `words`."),
    text: z.string().describe("Ours."),
    own: z.string().nullable().describe("The tenant's, in place of ours."),
  })
  .meta({ id: "ReplaceableText" });

/** What users would see and read. */
export const previewAddresses = [
  adminOperation("GET /admin/texts", {
    id: "listTexts",
    summary: "List the texts of pages, mails and SMS that the tenant can replace",
    query: z.object({
      language: z.enum(languageTags).default("en"),
      prefix: name().optional().describe("Only those whose paths begin with it, such as `mail.`."),
    }),
    answers: { 200: { schema: z.array(replaceableText) } },
    async perform({ tenant }, { query: { language, prefix = "" } }) {
      const own = tenant.config.words[language] ?? {};
      return [...textsByPath(wordsOf(language, {}))]
        .filter(([path]) => path.startsWith(prefix))
        .map(([path, text]) => ({ path, text, own: Object.hasOwn(own, path) ? (own[path] ?? null) : null }));
    },
  }),
  adminOperation("GET /admin/pages/previews", {
    id: "listPagePreviews",
    summary: "List the pictures of pages that can be previewed",
    answers: {
      200: {
        schema: z.array(
          z.strictObject({
            name: z.string(),
            state: z.string().nullable().describe("The state that it shows; null for another page."),
          }),
        ),
      },
    },
    perform: async () => (await builtGallery()).pictures,
  }),
  tenantOperation("POST /admin/pages/previews", {
    id: "previewPages",
    changesNothing: true,
    summary: "Draw pages in the theme and the words of the tenant",
    description: "Nothing is changed. The pictures have examples in place of what users enter.",
    body: z.object({
      ...tried,
      pictures: z
        .array(z.union([name(), shownState]))
        .max(MAX_PICTURES)
        .default([])
        .describe("Names of pictures, of which unknown ones are left out, or states."),
    }),
    answers: { 200: { schema: pagePreviews }, ...errors },
    perform: async (id, context, { body: { config, language, pictures } }) =>
      previewPages(await triedConfig(context, id, config), language, pictures),
  }),
  tenantOperation("POST /admin/messages/previews", {
    id: "previewMessages",
    changesNothing: true,
    summary: "Write every mail and SMS in the words of the tenant",
    description:
      "Nothing is sent. The messages have examples in place of codes, links and addresses. In `en-XA` and `ar-XB` there are mails alone.",
    body: z.object({ ...tried, kind: name().optional().describe("Only this message, such as `login`.") }),
    answers: { 200: { schema: z.array(messagePreview) }, ...errors },
    async perform(id, context, { body: { config, language, kind } }) {
      const previews = messagePreviews(await triedConfig(context, id, config), language);
      return kind === undefined ? previews : previews.filter((preview) => preview.kind === kind);
    },
  }),
];

/** The configuration of the tenant with a patch of its settings. @throws as a change of them */
async function triedConfig(context: HandlerContext, id: string, patch: Tree | undefined): Promise<Config> {
  if (!patch) return context.tenant.config;
  const settings = (current: Tree) => patched(current, patch);
  const { changed } = await judgeSettings(context.runtime, id, settings, changingParty(context));
  return changed;
}
