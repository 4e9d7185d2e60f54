import type { FlowAnswer } from "../../components/flow/flow-server.ts";
import type { Drawing } from "../../components/gallery/gallery.ts";
import { stillServer } from "../../components/gallery/still-server.ts";

/** A `fetch` that answers as the service would, over tRPC and REST, with the still server of a drawing. */
export function stillFetch(drawing: Drawing): typeof fetch {
  const server = stillServer(drawing);
  let isStarted = false;
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input, location.href);
    const call = /\/api\/trpc\/flow\.(\w+)$/.exec(url.pathname)?.[1];
    if (call) return Response.json({ result: { data: await answerOf(call, init?.body) } });
    const action = url.searchParams.get("action")?.split("@")[0];
    // Over REST the first drawing starts a flow, too.
    const start = isStarted ? server.start : server.current;
    isStarted = true;
    const { state } = await (action
      ? server.act(drawing.flow, action, drawing.version, {})
      : start(drawing.flow));
    return Response.json(state, { status: state.status });
  };

  function answerOf(call: string, body: BodyInit | null | undefined): Promise<FlowAnswer> {
    if (call !== "act") return call === "start" ? server.start(drawing.flow) : server.current(drawing.flow);
    const { action } = JSON.parse(String(body)) as { action: string };
    return server.act(drawing.flow, action, drawing.version, {});
  }
}
