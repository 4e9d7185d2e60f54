import { startTestCluster, type TestCluster } from "../server/testing/postgres-cluster.ts";

/** Where the set-up leaves the cluster for the workers, which are processes of their own. */
const variable = "STILE_TEST_CLUSTER";

/** Playwright's global set-up: one PostgreSQL for the whole run. */
export default async function setup(): Promise<() => Promise<void>> {
  const { cluster, stop } = await startTestCluster();
  process.env[variable] = JSON.stringify(cluster);
  return stop;
}

/** The PostgreSQL of the run. */
export const testCluster = () => JSON.parse(process.env[variable] ?? "") as TestCluster;
