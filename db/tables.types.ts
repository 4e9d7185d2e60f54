/** Tables that must not compile. `tsc` is the test: it reports an unused @ts-expect-error. */

import { pgTable, text, uuid } from "drizzle-orm/pg-core";
import { declareTable, sealContext } from "./schema/table.ts";
import { recoveryCodes, totpSecrets } from "./schema/users.ts";
import type { Ruled } from "./tables.ts";

const columns = () => ({ id: uuid("id").primaryKey(), secret: text("secret") });

const withoutRules = { things: pgTable("things", columns()) };

// @ts-expect-error a table of the schema without rules
export const schema: Ruled<typeof withoutRules> = withoutRules;

// @ts-expect-error a table without rules
declareTable("things", columns());

// @ts-expect-error a table that says neither when its rows end nor which of them the purge deletes
declareTable("things", columns(), { owner: "deployment" });

declareTable("things", columns(), {
  owner: "deployment",
  // @ts-expect-error a column that the table does not have
  purge: { by: "expiresAt" },
});

declareTable("things", columns(), {
  owner: "deployment",
  ends: "never",
  // @ts-expect-error a sealed column that the table does not have
  keyed: { sealed: { kind: "sealed", holds: "a secret", context: "things/{id}", after: "reseal" } },
});

// @ts-expect-error a context without a column that it names
sealContext(totpSecrets, "sealedSecret", { tenantId: "acme" });

// @ts-expect-error a column that is not sealed
sealContext(totpSecrets, "lastStep", { tenantId: "acme", userId: "ada" });

// @ts-expect-error a column of digests
sealContext(recoveryCodes, "codeHash", { tenantId: "acme" });

declareTable("things", columns(), {
  owner: "deployment",
  ends: "never",
  keyed: { secret: { kind: "sealed", holds: "a secret", context: "things/{id}", after: "reseal" } },
});
sealContext(totpSecrets, "sealedSecret", { tenantId: "acme", userId: "ada" });
