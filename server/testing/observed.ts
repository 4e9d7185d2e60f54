import { handle } from "../http/dispatch.ts";
import type { Runtime } from "../runtime.ts";

/** Receives each request of clients in this process, with its body as text, and the answer. */
export type Observer = (call: { request: Request; body: string; response: Response }) => Promise<void>;

const observers = new WeakMap<Runtime["database"], Observer>();

/** Observes the requests of a runtime, whatever its configuration. */
export function observe({ database }: Pick<Runtime, "database">, observer: Observer): void {
  observers.set(database, observer);
}

/** Sends a request to the API in this process. Throws for an address outside it. */
export async function send(request: Request, peer: string, runtime: Runtime): Promise<Response> {
  const observer = observers.get(runtime.database);
  const copy = observer ? request.clone() : null;
  const response = await handle(request, { peer, requestId: "request-1" }, runtime);
  if (!response) throw new Error(`${new URL(request.url).pathname} is not an address of the API`);
  if (observer && copy)
    await observer({ request: copy, body: await copy.text(), response: response.clone() });
  return response;
}
