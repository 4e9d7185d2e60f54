import { expect, test } from "vitest";
import { loadConfig } from "../config/load.ts";
import { configWebhooks } from "./config-webhooks.ts";

const callback = "https://app.example.com/events";
const secret = `whsec_${Buffer.alloc(24, 1).toString("base64")}`;

const load = (hooks: unknown, others: Record<string, string> = {}) =>
  loadConfig(
    { STILE_WEBHOOKS_HOOKS: JSON.stringify(hooks), STILE_WEBHOOKS_ENABLED: "true", ...others },
    "/nowhere",
  );

test("names a webhook of the configuration by its callback, so that its id outlives a restart", () => {
  const [hook, other] = configWebhooks(
    load([
      { callback, events: ["user"], secret },
      { callback: `${callback}/2`, events: ["session", "email.send"] },
    ]),
  );
  expect(hook).toEqual({
    callback,
    events: ["user"],
    secret,
    id: expect.stringMatching(/^config:[\w-]{22}$/),
  });
  expect(other?.id).not.toBe(hook?.id);
  expect(configWebhooks(load([{ callback, events: ["session"] }]))[0]?.id).toBe(hook?.id);
});

test("has no webhook of the configuration unless webhooks are enabled", () => {
  expect(configWebhooks(load([{ callback, events: ["user"] }], { STILE_WEBHOOKS_ENABLED: "false" }))).toEqual(
    [],
  );
});

test.each([
  [[{ callback, events: [] }], "without events"],
  [[{ callback, events: ["user.sneeze"] }], "unknown event"],
  [[{ callback, events: ["user"], secret: "whsec_c2hvcnQ=" }], "24 to 64 bytes"],
  [[{ callback, events: ["user"], failures: 0 }], "failures"],
  [
    [
      { callback, events: ["user"] },
      { callback, events: ["session"] },
    ],
    "callback twice",
  ],
  [
    [{ callback: "http://app.example.com/", events: ["user"] }],
    "must begin with https://, unless webhooks.allow_private_targets is set",
  ],
  [[{ callback: "https://169.254.169.254/", events: ["user"] }], "not public"],
])("A81 the start rejects %j", (hooks, reason) => expect(() => load(hooks)).toThrow(reason));

test("takes a receiver on this machine where private targets are allowed", () => {
  const hooks = [{ callback: "http://localhost:3001/events", events: ["user"] }];
  const config = load(hooks, { STILE_WEBHOOKS_ALLOW_PRIVATE_TARGETS: "true" });
  expect(configWebhooks(config)).toHaveLength(1);
});
