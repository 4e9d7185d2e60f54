import {
  themePreviewPage,
  themePreviewPageStyles,
  themePreviewSettings,
  themePreviewStyle,
} from "../../dev/theme-preview/page.ts";
import type { Handler } from "../handler-context.ts";

/** `GET /dev/theme`: every state with a theme that can be changed. */
export const themePreviewHandler: Handler = ({ runtime, url }) => themePreviewPage(runtime, url);

/** `GET /dev/theme/style.css` */
export const themePreviewStyleHandler: Handler = ({ runtime, url }) => themePreviewStyle(runtime, url);

/** `GET /dev/theme/settings.json` */
export const themePreviewSettingsHandler: Handler = ({ runtime, url }) => themePreviewSettings(runtime, url);

/** `GET /dev/theme/pages.css` */
export const themePreviewPageStylesHandler: Handler = () => themePreviewPageStyles();
