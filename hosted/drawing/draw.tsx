import type { ComponentType } from "react";
import { renderToString } from "react-dom/server";
import { type PageContent, parts } from "./parts.tsx";

/**
 * Draws a page as HTML, for the server. The build bundles this module with React, so that a process loads one file.
 *
 * @returns the markup that the script of the page takes over
 */
export function draw({ part, props }: PageContent): string {
  const Part = parts[part] as ComponentType<typeof props>;
  return renderToString(<Part {...props} />);
}
