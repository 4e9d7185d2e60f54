import type { Command } from "../command.ts";
import { authenticatorUsersDelete } from "./authenticator-users.ts";
import { configCheck } from "./config.ts";
import { flowGraph } from "./flow.ts";
import { keysCreate, keysDelete, keysList } from "./keys.ts";
import { migrate } from "./migrate.ts";
import { passkeyUsersDelete } from "./passkey-users.ts";
import { receiptVerify } from "./receipt.ts";
import { secretsReseal, secretsStatus } from "./secrets.ts";
import { tenantsCreate, tenantsDelete, tenantsList, tenantsUpdate } from "./tenants.ts";
import { usersExport, usersImport, usersList } from "./users.ts";

/** Every command of the CLI, in the order of its help text. */
export const commands: readonly Command[] = [
  tenantsList,
  tenantsCreate,
  tenantsUpdate,
  tenantsDelete,
  keysList,
  keysCreate,
  keysDelete,
  usersList,
  usersImport,
  usersExport,
  passkeyUsersDelete,
  authenticatorUsersDelete,
  configCheck,
  flowGraph,
  receiptVerify,
  secretsStatus,
  secretsReseal,
  migrate,
];
