import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { commandsOf } from "../docs/fenced-blocks.ts";
import { settingsOfVisitors, startLoad } from "../drills/load.ts";
import { programEnvironment } from "../scripts/test-programs.ts";
import { eventually } from "../server/testing/eventually.ts";
import { emptyDatabase } from "../server/testing/filled-database.ts";
import { folderForTests } from "../server/testing/open-for-tests.ts";
import { run } from "../server/testing/program.ts";
import { type SmtpCatcher, startSmtp } from "../server/testing/smtp.ts";
import { signUpAndIn } from "./sign-up-and-in.ts";

/**
 * The address by which pods reach this machine, which is a node of the cluster that `KUBECONFIG` names. A cluster takes minutes
 * to make, so the tests are run on demand.
 */
const here = process.env.STILE_TEST_KUBERNETES ?? "";

/** The image, with its tag, that the node has or can pull. */
const image = process.env.STILE_TEST_IMAGE ?? "";

const folder = folderForTests("kubernetes");

describe.skipIf(here === "")("the chart, installed on a cluster", () => {
  const namespace = `stile-test-${randomUUID().slice(0, 8)}`;
  const where = { cwd: join(import.meta.dirname, ".."), env: programEnvironment };
  const call = (program: string, words: readonly string[]) =>
    run(program, ["--namespace", namespace, ...words], where);
  const succeeded = async (program: string, words: readonly string[], variables = {}) => {
    const env = { ...where.env, ...variables };
    const { code, out, err } = await run(program, words, { ...where, env });
    expect({ words, code, said: code === 0 ? "" : out + err }).toEqual({ words, code: 0, said: "" });
    return out.trim();
  };
  const called = (program: string, ...words: string[]) =>
    succeeded(program, ["--namespace", namespace, ...words]);
  const kubectl = (...words: string[]) => called("kubectl", ...words);
  const chart = "deploy/helm/stile";
  const upgrade = (...words: string[]) =>
    called("helm", "upgrade", "stile", chart, "--reuse-values", "--wait", ...words);
  const rolledOut = () => kubectl("rollout", "status", "deployment/stile");
  const pods = async () =>
    Number(await kubectl("get", "deployment/stile", "-o", "jsonpath={.spec.replicas}"));

  const podNames = async () =>
    (await kubectl("get", "pods", "-o", "name", "-l", "app.kubernetes.io/name=stile")).split("\n");

  const [repository, tag = ""] = image.split(/:(?=[^:/]*$)/);
  // Taken from the page where the tests are skipped too: a page that has changed fails in every run.
  const commands = commandsOf("docs/operating/kubernetes.md", "kubectl create namespace", {
    "kubectl create namespace stile": `kubectl create namespace ${namespace}`,
    "--namespace stile": `--namespace ${namespace}`,
    "postgres://stile:…@postgres.example.internal:5432/stile": '"$DATABASE_URL"',
    '"$(openssl rand -base64 32)"': '"$SECRET_KEYS"',
    "smtps://stile:…@mail.example.com": '"$SMTP_URL"',
    "--set image.repository=registry.example.com/stile": [
      `--set image.repository=${repository} --set-string image.tag=${tag}`,
      '--set "networkPolicy.egressPorts={$DATABASE_PORT,$MAIL_PORT}"',
    ].join(" "),
  });

  const relays: Server[] = [];
  let mails: SmtpCatcher;
  let secrets: Record<string, string>;
  let address: string;

  /** Lets pods reach what listens on the loopback address. @returns the port */
  async function relay(url: string): Promise<number> {
    const { port } = new URL(url);
    const server = createServer((pod) => {
      const target = connect(Number(port), "127.0.0.1");
      for (const [socket, other] of [
        [pod, target],
        [target, pod],
      ] as const) {
        socket.on("error", () => {}).on("close", () => other.destroy());
        socket.pipe(other);
      }
    });
    server.listen(0, here);
    await once(server, "listening");
    relays.push(server);
    return (server.address() as AddressInfo).port;
  }

  const makeSecret = (name: string, values: Record<string, string>) =>
    kubectl(
      ...["create", "secret", "generic", name],
      ...Object.entries(values).map(([variable, value]) => `--from-literal=${variable}=${value}`),
    );

  beforeAll(async () => {
    const { adminUrl, ownerUrl } = inject("postgres");
    const database = new URL(await emptyDatabase(adminUrl, ownerUrl));
    mails = await startSmtp();
    const [databasePort, mailPort] = [await relay(database.href), await relay(mails.url)];
    database.host = `${here}:${databasePort}`;
    secrets = {
      DATABASE_URL: database.href,
      SECRET_KEYS: randomBytes(32).toString("base64"),
      SMTP_URL: `smtp://${here}:${mailPort}`,
    };
    const ports = { DATABASE_PORT: String(databasePort), MAIL_PORT: String(mailPort) };
    const said = await succeeded("sh", ["-e", "-c", commands], { ...secrets, ...ports });
    expect(said).toMatch(/^https:\/\/login\.example\.com\/.*invitation=/m);
    address = `http://${await kubectl("get", "service/stile", "-o", "jsonpath={.spec.clusterIP}")}`;
  }, 600_000);
  afterAll(async () => {
    await call("kubectl", ["delete", "namespace", namespace]);
    for (const server of relays) server.close();
    await mails?.close();
  });

  test("signs a visitor up and in", () => signUpAndIn(address, mails));

  test("is upgraded, taken back, restarted and drained under logins, of which none is interrupted", async () => {
    const values = join(folder, "visitors.json");
    writeFileSync(values, JSON.stringify({ settings: settingsOfVisitors }));
    await upgrade("--values", values);
    // Former pods, with the former settings, answer for some seconds more.
    await eventually(async () => expect(await podNames()).toHaveLength(2));
    const load = await startLoad(address, 10);
    await upgrade("--set", "podAnnotations.turn=one");
    await called("helm", "rollback", "stile", "--wait");
    await kubectl("rollout", "restart", "deployment/stile");
    await rolledOut();
    const node = await kubectl("get", "pods", "-o", "jsonpath={.items[0].spec.nodeName}");
    const ofChart = "--pod-selector=app.kubernetes.io/name=stile";
    // Where there is one node, the pod in place of the first has to wait, and the second is kept.
    await call("kubectl", ["drain", node, ofChart, "--timeout=15s"]);
    await kubectl("uncordon", node);
    await rolledOut();
    const result = await load.end();
    expect(result.succeeded).toBeGreaterThan(100);
    expect(result).toMatchObject({ interrupted: 0, failed: 0, lost: 0 });
  });

  test("keeps its pods where an autoscaler takes over their number", async () => {
    await upgrade("--set", "autoscaling.enabled=true");
    expect(await pods()).toBe(2);
    // It is what an autoscaler does.
    const scale = (replicas: number) => kubectl("scale", "deployment/stile", `--replicas=${replicas}`);
    await scale(3);
    await upgrade("--set", "podAnnotations.turn=two");
    expect(await pods()).toBe(3);
    await upgrade("--set", "podAnnotations.turn=three");
    await scale(4);
    await called("helm", "rollback", "stile", "--wait");
    expect(await pods()).toBe(4);
    await upgrade("--set", "autoscaling.enabled=false", "--force-conflicts");
    expect(await pods()).toBe(2);
  });

  test("goes on with its pods where those of an upgrade have a wrong secret, which their log tells", async () => {
    await makeSecret("wrong", { ...secrets, SECRET_KEYS: randomBytes(32).toString("base64") });
    const failed = await call("helm", [
      ...["upgrade", "stile", chart, "--reuse-values", "--wait", "--timeout", "40s"],
      ...["--set", "secrets.existing=wrong"],
    ]);
    expect(failed.code).toBe(1);
    const names = await podNames();
    expect(names).toHaveLength(3);
    const logs = await Promise.all(names.map(async (name) => (await call("kubectl", ["logs", name])).out));
    expect(logs.filter((log) => log.includes("SECRET_KEYS lacks the key"))).toHaveLength(1);
    expect((await fetch(`${address}/health/ready`)).status).toBe(200);
    await called("helm", "rollback", "stile", "--wait");
  });
});
