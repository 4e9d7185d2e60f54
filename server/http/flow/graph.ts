import { graph } from "../../flow/graph.ts";
import { json } from "../answer/reply.ts";
import type { Handler } from "../table/handler-context.ts";

/** `GET /.well-known/flow-graph.json`: every declared state, edge and error. The graph is the same for all tenants. */
export const flowGraphHandler: Handler = () =>
  json(200, graph(), { headers: { "Cache-Control": "max-age=600" } });
