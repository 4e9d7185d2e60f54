import { z } from "zod";
import { choice, section } from "./leaves.ts";

const color = () =>
  z
    .string()
    .regex(/^#[0-9a-f]{6}$/i, { error: "must be a colour like #1f5b43", abort: true })
    .max(7);

/** The four colours of a theme in one colour scheme. All others derive from them. */
function palette(scheme: string) {
  const of = (what: string) =>
    color().optional().describe(`Colour of ${what} in the ${scheme} scheme. Default: that of the preset.`);
  return section({
    accent: of("buttons, links and focus rings"),
    ground: of("the page"),
    surface: of("the card"),
    ink: of("texts"),
  });
}

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
  preset: choice(["stile", "slate", "paper"], "stile").describe(
    "The finished theme that the other settings change.",
  ),
  color_scheme: choice(["auto", "light", "dark"], "auto").describe("auto follows the visitor's system."),
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
  density: choice(["comfortable", "compact"], "comfortable").describe(
    "Height of controls and space between them.",
  ),
  logo: section({
    light: image()
      .optional()
      .describe("Logo in the light scheme. Without one, pages show our mark and the name of the service."),
    dark: image().optional().describe("Logo in the dark scheme. Default: that of the light one."),
  }),
  favicon: image().optional().describe("Icon of the browser's tab. Default: our mark."),
});

/** @param what the page that it leads to */
const link = (what: string) =>
  z
    .url({ protocol: /^https$/, error: "must be an https:// address" })
    .max(2048)
    .optional()
    .describe(`Address of ${what}. Without one, pages do not link to any.`);

/** Links in the footer of every page and in `links` of every state. */
export const links = section({
  terms: link("the terms of service"),
  privacy: link("the privacy policy"),
  help: link("the help"),
});
