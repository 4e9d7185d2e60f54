import { flowTypes } from "../../flow/names.ts";
import { command } from "../command.ts";
import { nameOf } from "../options.ts";

export const flowGraph = command({
  name: "flow graph",
  summary: "Print the state machine as a diagram.",
  details: `Prints a Mermaid state diagram of a flow: ${flowTypes.join(", ")}; by default login.`,
  takes: ["flow?"],
  options: { json: { description: "All flows with their transitions and declared errors, as JSON." } },
  async run(cli, { json }, [named]) {
    // Loaded here because no other command needs the state machine.
    const { diagram, graph } = await import("../../flow/graph.ts");
    if (json && named === undefined) return cli.print(JSON.stringify(graph()));
    const flow = nameOf(named ?? "login", flowTypes, "a flow");
    await cli.print(json ? JSON.stringify(graph().flows[flow]) : diagram(flow));
  },
});
