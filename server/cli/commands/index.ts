import type { Command } from "../command.ts";
import { authenticatorUsersDelete, passkeyUsersDelete } from "./application-users.ts";
import { auditFollow, auditList } from "./audit.ts";
import { backup, move, restore } from "./backup.ts";
import { clientsCreate, clientsDelete, clientsList, clientsSecret, clientsUpdate } from "./clients.ts";
import { configCheck } from "./config.ts";
import { consoleGrant, consoleLink, consoleList, consoleRevoke } from "./console.ts";
import { coverage } from "./coverage.ts";
import { databaseDistribute, databaseStatus } from "./database.ts";
import { flowExport, flowGraph, flowReplay, flowShow } from "./flow.ts";
import { keysCreate, keysDelete, keysList } from "./keys.ts";
import { login } from "./login.ts";
import { migrate } from "./migrate.ts";
import { receiptVerify } from "./receipt.ts";
import { secretsReseal, secretsStatus } from "./secrets.ts";
import { sessionsEnd, sessionsList } from "./sessions.ts";
import { tenantsCreate, tenantsDelete, tenantsList, tenantsUpdate } from "./tenants.ts";
import { usersBlock, usersSignOut, usersUnblock } from "./user-access.ts";
import { usersSearch, usersShow } from "./user-lookup.ts";
import { usersExport, usersImport, usersList } from "./users.ts";
import {
  webhooksCreate,
  webhooksDelete,
  webhooksDeliveries,
  webhooksList,
  webhooksListen,
  webhooksReplay,
  webhooksRotate,
  webhooksTest,
} from "./webhooks.ts";

/** Every command of the CLI, in the order of its help text. */
export const commands: readonly Command[] = [
  tenantsList,
  tenantsCreate,
  tenantsUpdate,
  tenantsDelete,
  clientsList,
  clientsCreate,
  clientsUpdate,
  clientsSecret,
  clientsDelete,
  keysList,
  keysCreate,
  keysDelete,
  usersList,
  usersSearch,
  usersShow,
  usersBlock,
  usersUnblock,
  usersSignOut,
  usersImport,
  usersExport,
  sessionsList,
  sessionsEnd,
  consoleLink,
  consoleGrant,
  consoleRevoke,
  consoleList,
  auditList,
  auditFollow,
  passkeyUsersDelete,
  authenticatorUsersDelete,
  webhooksList,
  webhooksCreate,
  webhooksDelete,
  webhooksRotate,
  webhooksTest,
  webhooksDeliveries,
  webhooksReplay,
  webhooksListen,
  configCheck,
  flowGraph,
  flowShow,
  flowExport,
  flowReplay,
  coverage,
  receiptVerify,
  secretsStatus,
  secretsReseal,
  migrate,
  backup,
  restore,
  move,
  databaseDistribute,
  databaseStatus,
  login,
];
