/** Texts of tenants. */
export const tenants = {
  sentence: "Each tenant has users, settings and host names of its own.",
  create: "New tenant",
  created: "The tenant is created.",
  name: "Name",
  hosts: "Host names",
  hostsHint: "The public one first. Without one it is reached below the address of the server.",
  address: "Address",
  isDefault: "Default",
  warnings: (count: number) => (count === 1 ? "1 warning" : `${count} warnings`),
  invalid: "Its settings are not valid",
  createdAt: "Created",
  open: "Open",
  change: "Edit the tenant",
  changed: "The tenant is changed.",
  deleteQuestion: "Delete the tenant?",
  deleteConsequence: (users: string) =>
    `With it go its settings, keys, webhooks, audit log and ${users}. Nothing of it can be brought back.`,
  users: (count: number) => (count === 1 ? "its 1 user" : `its ${count.toLocaleString("en")} users`),
  counting: "its users",
  deleted: "The tenant is deleted.",
  empty: "No tenants",
} as const;
