import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { DocumentedService } from "./documented-service.ts";

const root = join(import.meta.dirname, "..");

/** What the commands of a page need before they are run. */
export interface PageSetup {
  /** Files in the folder that they are run in; a name that ends in `/` is a folder. */
  files?: Record<string, string>;
  /** Variables that the page speaks of and does not set. */
  variables?: Record<string, string>;
  /** Examples of the page, by what takes their place. */
  replaced?: Record<string, string>;
  /** What the output has, apart from what every command has to do: to succeed. */
  shows?: RegExp[];
}

const accountsOf = (...names: string[]) =>
  names
    .map((name) => JSON.stringify({ username: name, emails: [{ address: `${name}@example.com` }] }))
    .join("\n");

/** A member of an answer in a file, in the words of a shell. */
const memberOf = (file: string, name: string) =>
  `"$(node -p 'JSON.parse(fs.readFileSync("${file}")).${name}')"`;

/** Values of settings, by the examples that stand for them. */
export const settingValues = {
  "AC…": "AC0123456789",
  "whsec_…": `whsec_${randomBytes(32).toString("base64")}`,
};

/** Set-ups by page. The commands of a page without one are run as they are. */
export const pageSetups: Record<string, (service: DocumentedService) => PageSetup | Promise<PageSetup>> = {
  "docs/administration.md": () => ({
    files: { "users.jsonl": accountsOf("edsger", "barbara") },
    replaced: { "ada@example.com": "lovelace@example.com" },
    shows: [/"session_token"/, /"plan":"pro"/, /"imported":/],
  }),
  "docs/authenticator-requests.md": () => ({
    // The button of the page that plays an authenticator.
    replaced: {
      "\nstatus\n": `
curl -H "Sec-Fetch-Site: same-origin" http://localhost:3000/dev/authenticator -d do=approve -d request=${memberOf("request.json", "id")} > page.html
status
`,
    },
    shows: [/^PENDING\nOK\nPENDING\nOK\nOK\n$/],
  }),
  "docs/connecting.md": async (service) => {
    const verifier = randomBytes(32).toString("base64url");
    const { code, token } = await service.signIn(verifier);
    return {
      replaced: {
        '"code": "…", "code_verifier": "…"': `"code": "${code}", "code_verifier": "${verifier}"`,
        '"session_token": "…"': `"session_token": "${token}"`,
      },
      shows: [/"session_token":"ey/, /"is_valid":true/],
    };
  },
  "docs/console.md": () => ({ shows: [/\/console/, /ada@example\.com +support/] }),
  "docs/embedding-frame.md": () => ({ shows: [/^[\w+/]{64}$/m] }),
  "docs/funnel.md": (service) => ({ variables: { KEY: service.key, ORIGIN: service.url } }),
  "docs/moving-in.md": () => ({
    files: { "users.json": accountsOf("tony", "margaret") },
    replaced: {
      // Without an interruption there is nothing to go on with.
      "--resume ": "--resume || : ",
      "node scripts/run.js bench/users.ts 1000000": `node ${root}/scripts/run.js ${root}/bench/users.ts 500`,
      "/usr/bin/time -v ": "",
    },
    shows: [/^500 imported\b/m],
  }),
  "docs/openid.md": async (service) => ({
    variables: {
      TENANT: service.tenant,
      SECRET: service.config.openid.clients.orders.secret,
      TOKEN: await service.accessToken("https://api.example.com/orders", "openid stock:read"),
    },
    replaced: {
      "-d scope=openid\n": `-d scope=openid | tee device.json\nallow-device ${memberOf("device.json", "user_code")}\n`,
      "device_code=…": `device_code=${memberOf("device.json", "device_code")}`,
    },
    shows: [/"user_code":"\w{4}-\w{4}"/, /"id_token":/, /"issued_token_type":/],
  }),
  "docs/passkey-server.md": async (service) => ({
    files: { "receipt.jws": await service.receipt() },
    variables: { tenant: service.defaultTenant },
    replaced: { "https://mds3.fidoalliance.org": "file:///dev/null" },
  }),
  "docs/recorder.md": (service) => ({
    files: { "changed.config.json": "{}" },
    replaced: {
      BCDFGHJK: service.supportNumber,
      "01a21d3b-c0e8-77a4-9207-fdbae810925b": service.flowId,
      "> flow.json": "> flow.json; mkdir bundles; cp flow.json bundles",
    },
    shows: [/login_password/],
  }),
  "docs/support.md": (service) => ({
    replaced: { BCDFGHJK: service.supportNumber },
    shows: [/"ready":true/],
  }),
  "docs/tenants.md": (service) => ({
    files: { "globex.json": '{"mfa": {"optional": false}}' },
    variables: { TENANT: service.tenant },
    shows: [/"locked_out":/],
  }),
  "docs/terminal.md": () => ({ shows: [/amr +\["pwd"\]/, /aud +cli/] }),
  "docs/webhooks.md": (service) => ({
    replaced: { "http://localhost:3001": service.receiver },
    shows: [/ session\.\S+ .* 204$/m],
  }),
  "docs/operating/backups.md": (service) => ({
    files: { "etc/": "", "backups/": "" },
    replaced: {
      "/etc/stile/": "etc/",
      "/backups/": "backups/",
      // Who may create databases, for `--verify`.
      "npx --no-install stile backup stile-": `DATABASE_URL=${service.asAdministrator} npx --no-install stile backup stile-`,
      "npx --no-install stile restore": `DATABASE_URL=${service.emptyDatabase} npx --no-install stile restore`,
    },
  }),
};
