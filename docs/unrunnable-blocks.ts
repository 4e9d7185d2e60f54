/** A block of commands that needs what a machine of the tests has not. */
export interface Unrunnable {
  /** Path of the page from the root of the repository. */
  page: string;
  /** The beginning of the block, which no other block of the page has. */
  begins: string;
  /** What it needs. */
  needs: string;
}

const registry = "packages from a registry: `installations.test.ts` runs it with those that are built here";

const clone =
  "a clone of its own, and minutes: `.ci/run` installs and tests, `deploy/image.test.ts` installs and starts";

const engine = "Docker; `deploy/container.test.ts` does the same where there is an engine";

/** Every block that `commands.test.ts` does not run. Its calls of `stile`, settings and packages are checked by name. */
export const unrunnable: readonly Unrunnable[] = [
  { page: "README.md", begins: "npm install && npm start", needs: clone },
  { page: "README.md", begins: "npm install && npm test", needs: clone },
  { page: "docs/embedding.md", begins: "npm install @stile-auth/react", needs: registry },
  { page: "docs/embedding.md", begins: "npm install /tmp/stile-packages/", needs: registry },
  { page: "docs/embedding.md", begins: "npm install @stile-auth/element", needs: registry },
  { page: "docs/for-your-server.md", begins: "npm install @stile-auth/server", needs: registry },
  { page: "docs/for-your-server.md", begins: "npm install /tmp/stile-packages/", needs: registry },
  { page: "docs/testing.md", begins: "npm install --save-dev @stile-auth/testing", needs: registry },
  { page: "docs/testing.md", begins: "npm install --save-dev /tmp/stile-packages/", needs: registry },
  {
    page: "docs/testing.md",
    begins: "STILE_COVERAGE=",
    needs: "tests of an application; `testing.test.ts` runs those of the page, and measures their coverage",
  },
  { page: "docs/trpc.md", begins: "npm install @stile-auth/server", needs: registry },
  { page: "docs/trpc.md", begins: "npm install /tmp/stile-packages/", needs: registry },
  {
    page: "docs/moving-in.md",
    begins: "node scripts/run.js bench/users.ts 1000000",
    needs: "a million users, and minutes: the measurement that the page reports",
  },
  {
    page: "docs/processes.md",
    begins: "node --max-semi-space-size=16",
    needs: "the package, installed in a folder of its own: `installations.test.ts` starts it there",
  },
  {
    page: "docs/operating/backups.md",
    begins: "createdb",
    needs: "a second PostgreSQL, and that no server runs: `server/backup/move.test.ts` moves to one",
  },
  { page: "docs/operating/containers.md", begins: "printf 'SECRET_KEYS=", needs: engine },
  { page: "docs/operating/containers.md", begins: "docker build", needs: engine },
  {
    page: "docs/operating/kubernetes.md",
    begins: "kubectl create namespace",
    needs: "a cluster of Kubernetes; `deploy/kubernetes.test.ts` does the same where there is one",
  },
  { page: "docs/operating/observing.md", begins: "curl -G http://localhost:9090/", needs: "Prometheus" },
  { page: "docs/operating/systemd.md", begins: "useradd --system", needs: "a machine with systemd, as root" },
];
