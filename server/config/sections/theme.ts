import { z } from "zod";
import { section } from "./leaves.ts";

const color = () =>
  z
    .string()
    .regex(/^#[0-9a-f]{6}$/i, { error: "must be a colour like #1f5b43", abort: true })
    .max(7);

/** The four colours of a theme in one colour scheme. All others derive from them. */
const palette = (scheme: string) =>
  section({
    accent: color()
      .optional()
      .describe(
        `Colour of buttons, links and focus rings in the ${scheme} scheme. Default: that of the preset.`,
      ),
    ground: color()
      .optional()
      .describe(`Colour of the page in the ${scheme} scheme. Default: that of the preset.`),
    surface: color()
      .optional()
      .describe(`Colour of the card in the ${scheme} scheme. Default: that of the preset.`),
    ink: color().optional().describe(`Colour of texts in the ${scheme} scheme. Default: that of the preset.`),
  });

/** An image that pages show without a request to another server. */
const image = () =>
  z
    .string()
    .max(65_536)
    .regex(
      /^data:image\/(?:png|jpeg|webp|svg\+xml);base64,[A-Za-z0-9+/]+={0,2}$/,
      "must be a data: URL of a PNG, JPEG, WebP or SVG image in base64",
    );

/** How the pages look. */
export const theme = section({
  preset: z
    .enum(["stile", "slate", "paper"])
    .default("stile")
    .describe("The finished theme that the other settings change."),
  color_scheme: z
    .enum(["auto", "light", "dark"])
    .default("auto")
    .describe("auto follows the visitor's system."),
  light: palette("light"),
  dark: palette("dark"),
  radius: z
    .number()
    .int()
    .min(0)
    .max(24)
    .optional()
    .describe(
      "Rounding of buttons and fields, in CSS pixels; the card is rounded accordingly. Default: that of the preset.",
    ),
  font: z
    .enum(["system", "humanist", "geometric", "serif", "rounded", "mono"])
    .optional()
    .describe(
      "Family of fonts; each is a list of fonts that systems have, so nothing is downloaded. Default: that of the preset.",
    ),
  density: z
    .enum(["comfortable", "compact"])
    .default("comfortable")
    .describe("Height of controls and space between them."),
  logo: section({
    light: image()
      .optional()
      .describe("Logo in the light scheme. Without one, pages show our mark and the name of the service."),
    dark: image().optional().describe("Logo in the dark scheme. Default: that of the light one."),
  }),
  favicon: image().optional().describe("Icon of the browser's tab. Default: our mark."),
});

const httpsAddress = () =>
  z
    .url({ protocol: /^https$/, error: "must be an https:// address" })
    .max(2048)
    .optional();

/** Links in the footer of every page and in `links` of every state. */
export const links = section({
  terms: httpsAddress().describe("Address of the terms of service. Without one, pages do not link to any."),
  privacy: httpsAddress().describe("Address of the privacy policy. Without one, pages do not link to any."),
  help: httpsAddress().describe("Address of the help. Without one, pages do not link to any."),
});
