import { expect, it } from "vitest";
import type { ToOwner } from "./messages.ts";
import { ownerLink } from "./owner-link.ts";

it("wakes the owner once for all calls of a moment, and again for later ones", async () => {
  const told: ToOwner[] = [];
  const link = ownerLink({ instanceId: "one", workers: 2, tell: (message) => told.push(message) });
  const moment = async () => {
    link.wake("send_mail");
    link.wake("deliveries");
    link.wake("send_mail");
    await new Promise(setImmediate);
  };
  await moment();
  expect(told).toEqual([
    { kind: "wake", of: "send_mail" },
    { kind: "wake", of: "deliveries" },
  ]);
  await moment();
  expect(told).toHaveLength(4);
});

it("tells others at once", () => {
  const told: ToOwner[] = [];
  const link = ownerLink({ instanceId: "one", workers: 2, tell: (message) => told.push(message) });
  link.tellOthers({ kind: "tenants" });
  expect(told).toEqual([{ kind: "tenants" }]);
});
