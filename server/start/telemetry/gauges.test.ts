import { resourceFromAttributes } from "@opentelemetry/resources";
import { afterAll, expect, test } from "vitest";
import { answerFor, measureBy, type Value } from "../../observability/metrics.ts";
import { metricProvider } from "./metrics.ts";
import { variablesOf } from "./variables.ts";

const { meter, collect, shutdown } = await metricProvider(
  null,
  variablesOf({ NODE_ENV: "test" }),
  resourceFromAttributes({}),
  "1",
);
measureBy(meter);

afterAll(async () => {
  measureBy(undefined);
  await shutdown();
});

const pointsOf = async (name: string) =>
  (await collect()).find((metric) => metric.name === name)?.points ?? [];

test("a gauge has the values of this moment alone: none of before, of a failure or of what hangs", async () => {
  let answer: () => Promise<Value<"oldestJob">[]> = async () => [[120, { "stile.job": "send_mail" }]];
  answerFor("oldestJob", () => answer());
  answerFor("hashesWaiting", () => [[3, {}]]);
  expect(await pointsOf("stile.jobs.oldest")).toEqual([
    { attributes: { "stile.job": "send_mail" }, value: 120 },
  ]);
  answer = async () => [];
  expect(await pointsOf("stile.jobs.oldest")).toEqual([]);
  answer = async () => {
    throw new Error("the database does not answer");
  };
  expect(await pointsOf("stile.jobs.oldest")).toEqual([]);
  answer = () => new Promise(() => {});
  expect(await pointsOf("stile.jobs.oldest")).toEqual([]);
  expect(await pointsOf("stile.hash.waiting")).toEqual([{ attributes: {}, value: 3 }]);
});
