import { graph } from "../../flow/graph.ts";
import type { Handler } from "../handler-context.ts";
import { json } from "../reply.ts";

/** `GET /.well-known/flow-graph.json`: every declared state, edge and error. The graph is the same for all tenants. */
export const flowGraphHandler: Handler = () =>
  json(200, graph(), { headers: { "Cache-Control": "max-age=600" } });
