import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseAllDocuments, parse as parseYaml } from "yaml";
import { isInstalled, programEnvironment } from "../scripts/test-programs.ts";
import { folderForTests } from "../server/testing/open-for-tests.ts";
import { run } from "../server/testing/program.ts";
import { secretSettings } from "./secret-settings.ts";

const root = join(import.meta.dirname, "..");
const chart = join(import.meta.dirname, "helm/stile");
const read = (path: string) => readFileSync(join(root, path), "utf8");

/** The oldest version that Chart.yaml admits, and the newest whose objects `kubernetes-validate` knows. */
const versions = ["1.30", "1.37"];

interface Rendered {
  kind: string;
  metadata: { name: string; annotations?: Record<string, string> };
  // biome-ignore lint/suspicious/noExplicitAny: objects of ten kinds, whose shapes Kubernetes checks.
  spec: any;
}

const folder = folderForTests("chart");

const helm = (...words: string[]) => run("helm", words, { cwd: root, env: programEnvironment });

const template = (...values: string[]) =>
  helm("template", "stile", chart, "--kube-version", `${versions[0]}.0`, ...values);

/** The values that the chart cannot do without. */
const needed = ["--set", "secrets.existing=stile", "--set", "baseUrl=https://login.example.com"];

/** Values that make the chart render all that it can. */
const everything = [
  "autoscaling.enabled=true",
  "autoscaling.poolWaits.enabled=true",
  "metrics.enabled=true",
  "metrics.serviceMonitor=true",
  "ingress.enabled=true",
  "ingress.className=nginx",
  "ingress.tlsSecret=certificate",
  "trustedProxies={10.0.0.0/8}",
  "secrets.further={providers}",
  "settings.STILE_ACCOUNT_ALLOW_SIGNUP=false",
  "networkPolicy.from[0].podSelector.matchLabels.app=ingress",
].flatMap((value) => ["--set", value]);

async function render(...values: string[]): Promise<Rendered[]> {
  const { code, out, err } = await template(...needed, ...values);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  return parseAllDocuments(out).flatMap((document) => document.toJS() ?? []);
}

const only = (objects: readonly Rendered[], kind: string): Rendered => {
  const [found, ...others] = objects.filter((object) => object.kind === kind);
  if (!found || others.length > 0) throw new Error(`${others.length + 1} objects of ${kind}`);
  return found;
};

describe.skipIf(!isInstalled("helm"))("the chart", () => {
  test("is found right by Helm", async () => {
    expect(await helm("lint", "--strict", chart, ...needed)).toMatchObject({ code: 0 });
  });

  test("is refused without a database, because its pods could not share an embedded one", async () => {
    const { code, err } = await template("--set", "baseUrl=https://login.example.com");
    expect(code).toBe(1);
    expect(err).toContain("secrets.existing is missing");
    expect(err).toContain("no embedded PostgreSQL, and 2 replicas could not share one");
  });

  test.each([
    ["an address that is none", "baseUrl=login.example.com", "baseUrl"],
    [
      "a secret among the settings",
      "settings.DATABASE_URL=postgres://x",
      "settings.DATABASE_URL is a secret",
    ],
    [
      "a setting that has a value of its own",
      "settings.STILE_SERVER_WORKERS=4",
      "is what the value workers sets",
    ],
    ["a value that it does not know", "replicaCount=3", "replicaCount"],
    ["a number that is too large", "poolSize=1000", "poolSize"],
  ])("is refused with %s", async (_, value, reason) => {
    const { code, err } = await template(...needed, "--set", value);
    expect(code).toBe(1);
    expect(err).toContain(reason);
  });

  test.skipIf(!isInstalled("kubernetes-validate")).each(versions)(
    "has objects that Kubernetes %s takes, with few values and with all",
    async (version) => {
      for (const [name, values] of Object.entries({ few: [], all: everything })) {
        // The kind of Prometheus's operator is none of Kubernetes.
        const objects = (await render(...values)).filter(({ kind }) => kind !== "ServiceMonitor");
        const file = join(folder, `${name}-${version}.yaml`);
        writeFileSync(file, objects.map((object) => JSON.stringify(object)).join("\n---\n"));
        const { code, out } = await run(
          "kubernetes-validate",
          ["--strict", "--no-warn", "--quiet", "--kubernetes-version", version, file],
          { cwd: root, env: programEnvironment },
        );
        expect({ name, code, said: code === 0 ? "" : out }).toEqual({ name, code: 0, said: "" });
      }
    },
  );

  test("gives no pod a right that it does not need", async () => {
    const objects = await render(...everything);
    for (const kind of ["Deployment", "Job"]) {
      const { spec } = only(objects, kind).spec.template;
      expect(spec).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: "RuntimeDefault" } },
        containers: [
          {
            securityContext: {
              allowPrivilegeEscalation: false,
              readOnlyRootFilesystem: true,
              capabilities: { drop: ["ALL"] },
            },
          },
        ],
      });
    }
    expect(only(objects, "ServiceAccount")).toMatchObject({ automountServiceAccountToken: false });
  });

  test("has no secret in its objects, but the names of those that have them", async () => {
    const [{ env, envFrom }] = only(await render(...everything), "Deployment").spec.template.spec.containers;
    expect(envFrom).toEqual([{ secretRef: { name: "stile" } }, { secretRef: { name: "providers" } }]);
    const names = env.map(({ name }: { name: string }) => name);
    expect(names.filter((name: string) => /URL|KEY|SECRET|PEPPER/.test(name))).toEqual(["BASE_URL"]);
  });

  test("replaces pods one by one, without a moment with fewer, and gives each the time to end", async () => {
    const { spec } = only(await render(), "Deployment");
    expect(spec.strategy.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 });
    const pod = spec.template.spec;
    const [{ env, lifecycle }] = pod.containers;
    const shutdown = env.find(({ name }: { name: string }) => name === "STILE_SERVER_SHUTDOWN_TIMEOUT").value;
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(
      lifecycle.preStop.sleep.seconds + Number(shutdown),
    );
  });

  test("migrates before the pods of a new version start, in a pod that traffic does not reach", async () => {
    const objects = await render();
    const job = only(objects, "Job");
    expect(job.metadata.annotations).toMatchObject({ "helm.sh/hook": "pre-install,pre-upgrade" });
    expect(job.spec.template.spec.containers[0].args).toEqual(["bin/stile.js", "migrate"]);
    const { selector } = only(objects, "Service").spec;
    const labels = job.spec.template.metadata.labels;
    expect(Object.entries(selector).every(([name, value]) => labels[name] === value)).toBe(false);
    // It is made before the objects of the chart.
    expect(job.spec.template.spec.serviceAccountName).toBeUndefined();
  });

  test("leaves the number of pods to the autoscaler, where there is one", async () => {
    expect(only(await render(), "Deployment").spec.replicas).toBe(2);
    const objects = await render(...everything);
    expect(only(objects, "Deployment").spec.replicas).toBeUndefined();
    const metrics = only(objects, "HorizontalPodAutoscaler").spec.metrics;
    expect(metrics.map(({ type }: { type: string }) => type)).toEqual(["Resource", "Pods"]);
    expect(read("docs/reference/metrics.md")).toContain(`| \`${metrics[1].pods.metric.name}\` |`);
  });

  test("is refused by Helm 3 with an autoscaler, whose pods it would end, and not without one", async () => {
    // A copy that takes this Helm for Helm 3.
    const copy = join(folder, "chart-for-helm-3");
    cpSync(chart, copy, { recursive: true });
    const names = join(copy, "templates/_names.tpl");
    const text = readFileSync(names, "utf8");
    writeFileSync(names, text.replaceAll(".Capabilities.HelmVersion.Version", '"v3.20.1"'));
    const templateOfCopy = (...values: string[]) =>
      helm("template", "stile", copy, "--kube-version", `${versions[0]}.0`, ...needed, ...values);
    const { code, err } = await templateOfCopy("--set", "autoscaling.enabled=true");
    expect(code).toBe(1);
    expect(err).toContain("autoscaling.enabled needs Helm 4: v3.20.1 would end all pods but one");
    expect(await templateOfCopy()).toMatchObject({ code: 0, err: "" });
  });

  test("renders by the command of its page", async () => {
    const [, command = ""] = /^(helm install .*?[^\\])$/ms.exec(read("docs/operating/kubernetes.md")) ?? [];
    const [, , name = "", path = "", ...values] = command.replaceAll("\\\n", " ").trim().split(/\s+/);
    const { code, err } = await helm(
      ...["template", name, path, "--kube-version", `${versions[0]}.0`],
      ...values.filter((word) => word !== "--wait"),
    );
    expect({ code, err }).toEqual({ code: 0, err: "" });
  });
});

test("the chart knows the settings that are secrets", () => {
  expect(readFileSync(join(chart, "secret-settings.txt"), "utf8")).toBe(secretSettings());
});

test("the chart has the version of the service, and says which Kubernetes it needs", () => {
  const { version, appVersion, kubeVersion } = parseYaml(read("deploy/helm/stile/Chart.yaml"));
  const { version: own } = JSON.parse(read("package.json"));
  expect({ version, appVersion, kubeVersion }).toEqual({
    version: own,
    appVersion: own,
    kubeVersion: `>=${versions[0]}.0-0`,
  });
});
