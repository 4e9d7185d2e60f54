import { and, eq, ne } from "drizzle-orm";
import { schema, type Transaction } from "#db/client";
import { columnOf, type RuledTable } from "#db/tables";

const { flows } = schema;

/**
 * Deletes the rows of an account in some tables.
 *
 * @param flowId the current flow, which is kept; null if there is none
 */
export async function deleteRows(
  tx: Transaction,
  of: readonly RuledTable[],
  { tenantId, userId, flowId }: { tenantId: string; userId: string; flowId: string | null },
): Promise<void> {
  // Flows first, because a step locks its flow before other rows.
  for (const table of of.toSorted((one, other) => Number(other === flows) - Number(one === flows))) {
    const isKept = table === flows && flowId !== null ? ne(flows.id, flowId) : undefined;
    await tx
      .delete(table)
      .where(and(eq(columnOf(table, "tenantId"), tenantId), eq(columnOf(table, "userId"), userId), isKept));
  }
}
