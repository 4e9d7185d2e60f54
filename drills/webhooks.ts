import { setTimeout as pause } from "node:timers/promises";
import { startReceiver, type WebhookReceiver } from "../server/testing/webhook-receiver.ts";
import { type Drills, drill, type Surroundings } from "./drill.ts";

interface WithReceiver extends Surroundings {
  receiver: WebhookReceiver;
}

async function withReceiver(): Promise<WithReceiver> {
  const receiver = await startReceiver();
  return {
    receiver,
    env: {
      STILE_WEBHOOKS_ENABLED: "true",
      STILE_WEBHOOKS_ALLOW_PRIVATE_TARGETS: "true",
      STILE_WEBHOOKS_HOOKS: JSON.stringify([{ callback: receiver.url, events: ["user", "session"] }]),
    },
    close: () => receiver.close(),
  };
}

/** A receiver of webhooks does not answer. */
export const webhookDrills: Drills = {
  "hanging-receiver": drill({
    done: "the receiver of webhooks hangs for fifteen seconds",
    alert: "StileDeliveriesWait",
    log: /delivery of an event failed and will be retried/,
    mayMissMs: 2_000,
    surround: withReceiver,
    async harm(_, { receiver }) {
      const { answer } = receiver;
      receiver.answer = () => {};
      await pause(15_000);
      receiver.answer = answer;
    },
  }),
};
