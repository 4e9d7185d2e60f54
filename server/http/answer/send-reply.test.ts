import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { eventually } from "../../testing/eventually.ts";
import type { Reply } from "./reply.ts";
import { sendReply } from "./send-reply.ts";
import { toResponse } from "./to-response.ts";

let server: Server;

afterEach(() => new Promise((resolve) => server.close(resolve)));

async function sent(reply: Reply, init: RequestInit = {}): Promise<Response> {
  server = createServer((_, outgoing) => {
    try {
      sendReply(outgoing, reply);
    } catch (error) {
      outgoing.writeHead(500).end((error as Error).name);
    }
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return fetch(`http://127.0.0.1:${port}`, { ...init, headers: { connection: "close" } });
}

const replies: Record<string, Reply> = {
  "with a body": { status: 201, body: "Grüße", headers: { "Content-Type": "text/plain; charset=utf-8" } },
  "with an empty body": { status: 200, body: "", headers: { "Content-Type": "text/plain" } },
  "with cookies": {
    status: 303,
    headers: { Location: "/", Vary: "Origin" },
    cookies: ["a=1; Path=/; HttpOnly", "b=2; Max-Age=0"],
  },
  "without a body": { status: 204, headers: { Allow: "GET, HEAD" } },
};

test.each(Object.entries(replies))(
  "a reply %s arrives as its web-standard response would",
  async (_, reply) => {
    const expected = toResponse(reply);
    const answer = await sent(reply, { redirect: "manual" });
    expect(answer.status).toBe(expected.status);
    expect(Object.fromEntries(answer.headers)).toMatchObject(Object.fromEntries(expected.headers));
    expect(answer.headers.getSetCookie()).toEqual(expected.headers.getSetCookie());
    expect(await answer.text()).toBe(await expected.text());
  },
);

test("the length of a body is counted in bytes", async () => {
  const answer = await sent({ status: 200, body: "Grüße" });
  expect(answer.headers.get("content-length")).toBe("7");
  expect(answer.headers.has("transfer-encoding")).toBe(false);
});

test("A97 a header with a line break is not sent, and another answer still can be", async () => {
  const answer = await sent({ status: 200, headers: { Location: "/\r\nSet-Cookie: planted=1" }, body: "x" });
  expect([answer.status, await answer.text()]).toEqual([500, "TypeError"]);
  expect(answer.headers.getSetCookie()).toEqual([]);
});

test("answers of one turn all arrive, though one of their clients has gone", async () => {
  const asked: ServerResponse[] = [];
  server = createServer((_, outgoing) => {
    if (asked.push(outgoing) < 3) return;
    for (const [index, each] of asked.entries()) sendReply(each, { status: 200, body: `answer ${index}` });
    asked[1]?.destroy();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const answers = [];
  for (const count of [1, 2, 3]) {
    answers.push(
      fetch(`http://127.0.0.1:${port}`, { headers: { connection: "close" } }).then(
        (answer) => answer.text(),
        () => "none",
      ),
    );
    if (count < 3) await eventually(() => expect(asked).toHaveLength(count));
  }
  expect(await Promise.all(answers)).toEqual(["answer 0", "none", "answer 2"]);
});
