import { graph } from "../../flow/graph.ts";
import type { Handler } from "../handler-context.ts";
import { json } from "../reply.ts";

/** `GET /.well-known/flow-graph.json`: every state, edge and error that is declared. The same for everybody. */
export const flowGraphHandler: Handler = () =>
  json(200, graph(), { headers: { "Cache-Control": "max-age=600" } });
