import type { OperatorContext } from "../admin/change-user.ts";
import { commandLine } from "../audit/audit.ts";
import type { Tenant } from "../config/tenant.ts";
import { currentTime } from "../database/current-time.ts";
import type { CliRuntime } from "./cli-runtime.ts";
import { type Cli, missing } from "./command.ts";
import { idOf } from "./options.ts";

/** What the CLI does something at a tenant with, as its operator. */
export interface AtTenant extends OperatorContext {
  runtime: CliRuntime & OperatorContext["runtime"];
}

/**
 * Runs `work` on the server's database, at a tenant. This process delivers nothing: the server delivers events when it
 * looks for due ones. `work` causes no mail, because only a started queue can enqueue one.
 *
 * @param id default: the default tenant
 * @throws CommandError if no tenant has the id
 */
export function atTenant<Result>(
  cli: Pick<Cli, "withRuntime">,
  id: string | undefined,
  work: (at: AtTenant) => Promise<Result>,
): Promise<Result> {
  return cli.withRuntime(async (runtime) => {
    const tenant = await findTenant(runtime, id);
    const now = await currentTime(runtime);
    return work({ runtime: { ...runtime, webhooks: { wake() {} }, jobs }, tenant, client: commandLine, now });
  });
}

async function findTenant({ tenant, tenants }: CliRuntime, id: string | undefined): Promise<Tenant> {
  if (id === undefined) return tenant;
  const canonical = idOf(id);
  const found = canonical && (await tenants.byId(canonical));
  if (!found) throw missing("tenant", id);
  return found;
}

const jobs: OperatorContext["runtime"]["jobs"] = {
  enqueue() {
    throw new Error("this command cannot enqueue jobs");
  },
  wake() {},
};
