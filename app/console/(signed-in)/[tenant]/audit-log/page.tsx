import type { Metadata } from "next";
import { words } from "../../../_words.ts";
import { AuditLog } from "./audit-log.tsx";

export const metadata: Metadata = { title: words.pages.audit_log };

export default function AuditLogPage() {
  return <AuditLog />;
}
