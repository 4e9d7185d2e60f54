import { type FlowType, flowTypes } from "../../flow/names.ts";
import { command, UsageError } from "../command.ts";

export const flowGraph = command({
  name: "flow graph",
  summary: "Draw the state machine.",
  details: `As a Mermaid state diagram, of one flow: ${flowTypes.join(", ")}; by default login.`,
  takes: ["flow?"],
  options: { json: { description: "All flows with every edge and every declared error, as JSON." } },
  async run(cli, { json }, [named]) {
    // The whole machine, which no other command needs.
    const { diagram, graph } = await import("../../flow/graph.ts");
    if (json && named === undefined) return cli.print(JSON.stringify(graph()));
    const flow = flowTypeOf(named ?? "login");
    await cli.print(json ? JSON.stringify(graph().flows[flow]) : diagram(flow));
  },
});

function flowTypeOf(name: string): FlowType {
  const flow = flowTypes.find((type) => type === name);
  if (!flow) throw new UsageError(`${name} is not a flow: ${flowTypes.join(", ")}`);
  return flow;
}
