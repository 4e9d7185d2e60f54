import {
  IconApps,
  IconBuilding,
  IconCertificate,
  IconChartFunnel,
  IconClipboardList,
  IconFileImport,
  IconId,
  IconKey,
  IconLayoutDashboard,
  IconMail,
  IconPalette,
  IconRoute,
  IconSettings,
  IconShieldLock,
  IconUsers,
  IconWebhook,
} from "@tabler/icons-react";
import type { ComponentType } from "react";
import type { AdminOperations } from "../../../packages/server/src/interface.ts";
import { words } from "../_words.ts";

/** A page of the navigation. */
export interface ConsolePage {
  /** Its address below that of the tenant. */
  path: string;
  label: string;
  icon: ComponentType<{ size?: number; stroke?: number }>;
  /** What it calls: it is shown to roles that may. */
  needs: keyof AdminOperations;
}

/** The pages of the console in the order of the navigation, in groups. */
export const pageGroups: readonly (readonly ConsolePage[])[] = [
  [
    { path: "", label: words.pages.overview, icon: IconLayoutDashboard, needs: "getOverview" },
    { path: "sign-ins", label: words.pages.sign_ins, icon: IconRoute, needs: "listFlows" },
    { path: "funnel", label: words.pages.funnel, icon: IconChartFunnel, needs: "getFunnel" },
  ],
  [
    { path: "users", label: words.pages.users, icon: IconUsers, needs: "listUsers" },
    { path: "imports", label: words.pages.imports, icon: IconFileImport, needs: "listImports" },
    { path: "messages", label: words.pages.messages, icon: IconMail, needs: "listMessages" },
    { path: "audit-log", label: words.pages.audit_log, icon: IconClipboardList, needs: "listAuditLogs" },
    { path: "webhooks", label: words.pages.webhooks, icon: IconWebhook, needs: "listWebhooks" },
  ],
  [
    { path: "settings", label: words.pages.settings, icon: IconSettings, needs: "getOwnTenant" },
    { path: "look", label: words.pages.look, icon: IconPalette, needs: "previewPages" },
    { path: "providers", label: words.pages.providers, icon: IconId, needs: "listOAuthProviders" },
    { path: "applications", label: words.pages.applications, icon: IconApps, needs: "listOpenidClients" },
    { path: "keys", label: words.pages.keys, icon: IconKey, needs: "listApiKeys" },
    {
      path: "signing-keys",
      label: words.pages.signing_keys,
      icon: IconCertificate,
      needs: "listSigningKeys",
    },
    { path: "roles", label: words.pages.roles, icon: IconShieldLock, needs: "listConsoleRoles" },
    // All tenants are an operator's.
    { path: "tenants", label: words.pages.tenants, icon: IconBuilding, needs: "createTenant" },
  ],
];
