import {
  type PlainPages,
  themePreviewPage,
  themePreviewSettings,
  themePreviewStyle,
} from "../../dev/theme-preview/page.ts";
import { messageDocument, messageStyles } from "../answer/message-document.ts";
import { messages } from "../answer/messages.ts";
import type { Handler } from "../table/handler-context.ts";

const plainPages: PlainPages = {
  styles: messageStyles,
  documents: ({ flow }, language, service) =>
    Object.entries(messages).map(([name, message]) => ({
      name,
      document: messageDocument({ ...flow, language }, service, message({ ...flow, language })),
    })),
};

/** `GET /dev/theme`: every state with a theme that can be changed. */
export const themePreviewHandler: Handler = ({ runtime, url }) => themePreviewPage(runtime, url, plainPages);

/** `GET /dev/theme/style.css` */
export const themePreviewStyleHandler: Handler = ({ runtime, url }) => themePreviewStyle(runtime, url);

/** `GET /dev/theme/settings.json` */
export const themePreviewSettingsHandler: Handler = ({ runtime, url }) => themePreviewSettings(runtime, url);
