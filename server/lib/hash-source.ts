import { sha256 } from "./sha256.ts";

/** The source of a content security policy that allows one text, a script or a style sheet (CSP Level 3, 2.3.1). */
export const hashSource = (text: string): string => `'sha256-${sha256(text).toString("base64")}'`;
