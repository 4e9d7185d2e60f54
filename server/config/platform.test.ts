import { describe, expect, test } from "vitest";
import { loadConfig } from "./load.ts";

const vercel = {
  VERCEL: "1",
  VERCEL_ENV: "production",
  VERCEL_PROJECT_PRODUCTION_URL: "login.example.com",
  VERCEL_BRANCH_URL: "stile-git-main-acme.vercel.app",
  VERCEL_URL: "stile-0815-acme.vercel.app",
};

const load = (environment: Record<string, string>) => loadConfig(environment, "/nowhere");

describe("on Vercel", () => {
  test("the address is that of the project, of a preview its own", () => {
    expect(load(vercel).base_url).toBe("https://login.example.com");
    expect(load({ ...vercel, VERCEL_ENV: "preview" }).base_url).toBe("https://stile-0815-acme.vercel.app");
    expect(load({ VERCEL: "1", VERCEL_ENV: "production", VERCEL_URL: "a.vercel.app" }).base_url).toBe(
      "https://a.vercel.app",
    );
  });

  test("the service answers to every name of the deployment, and to those of server.hosts", () => {
    const { server } = load({ ...vercel, STILE_SERVER_HOSTS: "id.example.com" });
    expect(server.hosts).toEqual([
      "id.example.com",
      "login.example.com",
      "stile-git-main-acme.vercel.app",
      "stile-0815-acme.vercel.app",
    ]);
  });

  test("pools are small", () => {
    expect(load(vercel).database).toMatchObject({ pool_size: 2, prepared_statements: true });
  });

  test("settings that are made count before the platform's", () => {
    const made = { BASE_URL: "https://id.example.com", STILE_DATABASE_POOL_SIZE: "7" };
    const config = load({ ...vercel, ...made });
    expect([config.base_url, config.database.pool_size]).toEqual(["https://id.example.com", 7]);
  });

  test("the scheduler's secret is its own, beside that of other callers", () => {
    const secrets = { CRON_SECRET: "made by the platform", STILE_JOBS_SECRET: "made by the operator" };
    expect(load({ ...vercel, ...secrets }).jobs).toEqual({
      secret: "made by the operator",
      cron_secret: "made by the platform",
    });
  });
});

test("elsewhere the platform's variables are ignored", () => {
  const { VERCEL: _, ...others } = vercel;
  const { base_url, server, database } = load(others);
  expect([base_url, server.hosts, database.pool_size]).toEqual(["http://localhost:3000", [], 10]);
});
