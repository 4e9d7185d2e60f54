import { Authorization } from "../../components/flow/authorization.tsx";
import type { Drawings } from "../../components/flow/view-context.ts";

/** What the page alone draws. An application never asks in an embedded flow, so that packages need not carry this. */
export const pageDrawings: Drawings = { authorization: Authorization };
