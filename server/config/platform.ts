import { subtree, type Tree } from "../lib/tree.ts";

/** Connections of each pool: a function answers few requests at once, and there may be many functions. */
const POOL_SIZE = 2;

/**
 * Completes the settings with what the hosting platform states about itself. A setting that is made counts before it.
 *
 * On Vercel: the address of the project, of a preview its own; and the further names of the deployment, under one of
 * which the platform's scheduler calls.
 *
 * @param tree settings by the names of the tree
 */
export function withPlatform(tree: Tree, environment: Record<string, string | undefined>): Tree {
  if (environment.VERCEL !== "1") return tree;
  const { VERCEL_ENV, VERCEL_PROJECT_PRODUCTION_URL, VERCEL_BRANCH_URL, VERCEL_URL } = environment;
  const own = VERCEL_ENV === "production" ? VERCEL_PROJECT_PRODUCTION_URL || VERCEL_URL : VERCEL_URL;
  const server = subtree(tree, "server");
  const names = [VERCEL_PROJECT_PRODUCTION_URL, VERCEL_BRANCH_URL, VERCEL_URL].filter((name) => name);
  const hosts = Array.isArray(server.hosts) ? server.hosts : [];
  return {
    ...(own ? { base_url: `https://${own}` } : {}),
    ...tree,
    database: { pool_size: POOL_SIZE, ...subtree(tree, "database") },
    server: { ...server, hosts: [...new Set([...hosts, ...names])] },
  };
}
