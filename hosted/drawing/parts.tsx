import type { ComponentProps } from "react";
import { ConfirmationPage } from "./confirmation.tsx";
import { FramePage, FrameWindowPage } from "./frame.tsx";
import { LoginPage } from "./login.tsx";
import { FrameRefusedPage, MissingPage } from "./messages.tsx";

/** What can fill a page. A part that a browser takes over has an entry of its name in `browser/`. */
export const parts = {
  login: LoginPage,
  confirmation: ConfirmationPage,
  frame: FramePage,
  "frame-window": FrameWindowPage,
  missing: MissingPage,
  "frame-refused": FrameRefusedPage,
};

type Parts = typeof parts;

/** The part that fills a page, and its properties, which are JSON. */
export type PageContent = {
  [Name in keyof Parts]: { part: Name; props: ComponentProps<Parts[Name]> };
}[keyof Parts];
