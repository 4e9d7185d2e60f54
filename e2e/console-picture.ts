import type { Page } from "@playwright/test";
import type { ConsoleThings } from "./console-data.ts";

/** Who looks: `stale` signed in too long ago to make changes. */
export type Visitor = "operator" | "auditor" | "stale";

/** A picture: what is shown at an address of the console, and what is done there before. */
export interface Picture {
  name: string;
  /** Below `/console`. */
  address: string;
  /** Default: an operator. */
  by?: Visitor;
  /** Done before the page is read: what the service answers to it. */
  prepare?(page: Page): Promise<unknown>;
  /** Done on the page, by the controls that it has. */
  open?(page: Page): Promise<unknown>;
  /** The one width that has it; default: each. */
  width?: number;
  /** Whether it is of a page that still waits for the service. */
  waits?: boolean;
}

/** The pictures of something, of the tenant at `home` and of what the server was filled with. */
export type PicturesOf = (home: string, things: ConsoleThings) => Picture[];
