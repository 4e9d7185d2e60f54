import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A process of its own that takes deliveries and answers 204. It sends its port to its parent. */
const server = createServer((request, response) => {
  request.resume().once("end", () => response.writeHead(204).end());
});
server.listen(0, "127.0.0.1", () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on("disconnect", () => process.exit(0));
