import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { flowClient, type State } from "./flow-client.ts";

let server: Server | undefined;
afterEach(() => server?.close());

interface Seen {
  url: string | undefined;
  headers: IncomingMessage["headers"];
  body: string;
}

/** Starts a server that sends the given responses in turn; returns the requests that it received. */
async function answering(...answers: [status: number, state: Partial<State>, cookies?: string[]][]) {
  const seen: Seen[] = [];
  const listener = async (request: IncomingMessage, response: ServerResponse) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const [status, state, cookies = []] = answers[seen.length] ?? [500, {}];
    seen.push({ url: request.url, headers: request.headers, body });
    response
      .writeHead(status, { "content-type": "application/json", "set-cookie": cookies })
      .end(JSON.stringify(state));
  };
  server = createServer(listener);
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  return { seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const offering = (name: string, token: string, ...actions: string[]): Partial<State> => ({
  name,
  csrf_token: token,
  actions: Object.fromEntries(
    actions.map((action) => [
      action,
      { action, href: `/login?action=${action}%40id`, description: "", inputs: {} },
    ]),
  ),
});

test("posts an action to its href with the newest token, also after an error without a state", async () => {
  const { seen, url } = await answering(
    [200, offering("one", "first", "go")],
    [403, { name: "error", csrf_token: "", actions: {} }],
    [400, offering("one", "second", "go")],
    [200, offering("two", "third", "back")],
  );
  const client = flowClient(url, { language: "de" });
  await client.start("login");
  await client.attempt("go", {}, { csrfToken: "stale" });
  expect(client.state.name).toBe("error");
  await client.act("go", { a: 1 });
  await client.act("go");
  expect(seen.map((one) => one.url)).toEqual(["/login", ...Array(3).fill("/login?action=go%40id")]);
  expect(seen.map((one) => one.body && JSON.parse(one.body))).toEqual([
    "",
    { input_data: {}, csrf_token: "stale" },
    { input_data: { a: 1 }, csrf_token: "first" },
    { input_data: {}, csrf_token: "second" },
  ]);
  expect(seen[0]?.headers["x-language"]).toBe("de");
  expect(client.last.status).toBe(200);
});

test("sends an action that is not offered with `attempt` only", async () => {
  const { seen, url } = await answering([200, offering("one", "first", "go")], [403, offering("error", "")]);
  const client = flowClient(url);
  await client.start("login");
  await expect(client.act("leap")).rejects.toThrow("one offers go, not leap");
  await client.attempt("leap");
  expect(seen[1]?.url).toBe("/login?action=leap%40id");
});

test("stores and sends cookies, and deletes those that the server removes", async () => {
  const { seen, url } = await answering(
    [200, offering("one", "first", "go"), ["service=abc=; Path=/; HttpOnly; Max-Age=60"]],
    [200, offering("two", "second", "go"), ["service=; Path=/; Max-Age=0"]],
    [200, {}],
  );
  const client = flowClient(url);
  await client.start("login");
  expect(client.cookies.get("service")).toBe("abc=");
  await client.act("go");
  await client.request("/me");
  expect(seen.map((one) => one.headers.cookie)).toEqual([undefined, "service=abc=", undefined]);
});
