import type { ComponentType } from "react";
import { hydrateRoot } from "react-dom/client";
import { PAGE_ID, PROPERTIES_ID } from "./element-ids.ts";

/** Lets the script take over what the server drew. */
export function takeOver<Properties extends object>(Part: ComponentType<Properties>): void {
  const page = document.getElementById(PAGE_ID);
  const properties = document.getElementById(PROPERTIES_ID)?.textContent;
  if (page && properties) hydrateRoot(page, <Part {...(JSON.parse(properties) as Properties)} />);
}
