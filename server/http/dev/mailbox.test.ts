import { expect, test } from "vitest";
import type { AccessFields } from "../../observability/access-fields.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { handle } from "../dispatch.ts";

const runtime = await runtimeForTests();

/** What the access log is told of a request for the mailbox. */
async function told(accept: string): Promise<AccessFields> {
  const accessFields: AccessFields = {};
  const request = new Request(`${runtime.config.base_url}/dev/mailbox`, {
    headers: { accept, host: new URL(runtime.config.base_url).host },
  });
  const answer = await handle(request, { peer: "127.0.0.1", requestId: "request-1", accessFields }, runtime);
  expect(answer?.status).toBe(200);
  return accessFields;
}

test("the requests of an open mailbox for newer mails are told from those of its user", async () => {
  expect((await told("application/json")).isPoll).toBe(true);
  expect((await told("text/html")).isPoll).toBe(undefined);
});
