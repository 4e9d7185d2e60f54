import { applicationsWords } from "./_words/applications.ts";
import { consoleRoles } from "./_words/console-roles.ts";
import { flowWords } from "./_words/flow.ts";
import { funnel } from "./_words/funnel.ts";
import { imports } from "./_words/imports.ts";
import { keysWords } from "./_words/keys.ts";
import { lookWords } from "./_words/look.ts";
import { messagesWords } from "./_words/messages.ts";
import { overview } from "./_words/overview.ts";
import { providers } from "./_words/providers.ts";
import { settingsWords } from "./_words/settings.ts";
import { tables } from "./_words/tables.ts";
import { tenants } from "./_words/tenants.ts";
import { user } from "./_words/user.ts";
import { usersWords } from "./_words/users.ts";
import { webhooks } from "./_words/webhooks.ts";

/** The texts of the console, which is in English alone. Those of one page are in `_words`. */
export const words = {
  console: "Stile console",
  cancel: "Cancel",
  undo: "Undo",
  undone: "Undone.",
  save: "Save",
  retry: "Try again",
  signOut: "Sign out",
  search: "Search or jump to…",
  nothingFound: "Nothing found.",
  navigation: "Main navigation",
  skip: "Skip to content",
  copy: "Copy",
  copied: "Copied",
  loading: "Loading",
  never: "never",
  none: "none",
  any: "Any",
  yes: "yes",
  no: "no",
  add: "Add",
  remove: "Remove",
  close: "Close",
  export: "Export",
  saved: "Saved.",
  removed: "Removed.",
  typeToConfirm: (text: string) => `Type “${text}” to confirm`,
  clear: "Clear",
  create: "Create",
  edit: "Edit",
  delete: "Delete",
  enabled: "Enabled",
  disabled: "Disabled",
  shownOnce: {
    sentence: "This is shown once. Copy it now: the service keeps no copy that it could show again.",
    done: "I have copied it",
  },

  lockOut: {
    title: "This locks accounts of the console out",
    sentence: "Make sure that another account can enter it before you go on.",
    confirm: "Change all the same",
  },

  account: {
    menu: "Account",
    appearance: "Appearance",
    schemes: { light: "Light", dark: "Dark", auto: "As the system" },
  },
  roles: {
    auditor: "Auditor",
    support: "Support",
    administrator: "Administrator",
    operator: "Operator",
  },
  tenant: { choice: "Tenant" },
  accountSelect: { hint: "A part of the address" },
  palette: {
    pages: "Pages",
    users: "Users",
    openSignIn: (number: string) => `Open the sign-in ${number}`,
  },
  methods: {
    password: "Password",
    passcode: "Mailed code",
    sms: "Code by SMS",
    passkey: "Passkey",
    third_party: "Identity provider",
    totp: "Authenticator app",
    security_key: "Security key",
    authenticator: "Phone",
    recovery_code: "Recovery code",
  },
  signedOut: {
    title: "You are signed out",
    sentence: "The console has forgotten this browser.",
    again: "Sign in",
  },

  signInAgain: {
    title: "Sign in again",
    sentence: "Your last sign-in was some time ago. Changes ask for a new one. What you have typed stays.",
    button: "Sign in",
  },
  confirmed: {
    title: "You are signed in",
    sentence: "You can close this window.",
  },
  refused: {
    title: "You cannot enter the console",
    reasons: {
      no_role:
        "This account has no role of the console. An operator can give it one: `npx --no-install stile console grant <email> <role>`.",
      weak_sign_in:
        "The console asks for a second factor or a passkey. Set one up on the account page, then sign in again.",
      invitation_used:
        "The link was used before, has expired, or is incomplete. Print another one: `npx --no-install stile console link`.",
      operator_exists:
        "The link makes the first operator, and there is one. Ask an operator to give your account a role, or sign in if it has one.",
      interrupted: "The sign-in was interrupted. Please sign in again.",
    },
    signIn: "Sign in",
    again: "Sign in with another account",
    account: "Account page",
  },
  notFound: {
    title: "There is no such page",
    sentence: "The address is wrong, or what it named is gone.",
    home: "To the overview",
  },
  failed: {
    title: "This did not work",
    sentence: "The page could not be shown. The service may be restarting.",
    noAnswer: "The service did not answer. Check the connection, and try again.",
  },
  table: {
    actions: "Actions",
    select: "Select",
    selectAll: "Select all on this page",
    total: (count: number) => (count === 1 ? "1 entry" : `${count.toLocaleString("en")} entries`),
    page: (page: number) => `Page ${page}`,
    pages: { first: "First page", previous: "Previous page", next: "Next page", last: "Last page" },
  },
  auditLog: {
    sentence: "Sign-ins, changes and failures, newest first.",
    follow: "Follow live",
    search: "Search",
    types: "Types",
    time: "Time",
    type: "Type",
    user: "Account",
    details: "Details",
    source: "Address",
    empty: "No entries",
    emptySentence: "Nothing fits these filters. Entries are kept for as long as `audit_log.retention` says.",
  },
  graph: {
    controls: {
      "controls.ariaLabel": "Controls of the drawing",
      "controls.zoomIn.ariaLabel": "Zoom in",
      "controls.zoomOut.ariaLabel": "Zoom out",
      "controls.fitView.ariaLabel": "Show all",
    },
  },
  embeddings: {
    page: "hosted page",
    frame: "frame",
    element: "element",
    client: "own client",
    other: "other",
  },
  range: {
    label: "Time",
    names: { "24h": "24 hours", "7d": "7 days", "30d": "30 days", "90d": "90 days", custom: "Other" },
    from: "From",
    to: "To",
  },
  calendar: {
    monthLevelControl: "Choose a month",
    yearLevelControl: "Choose a year",
    previousMonth: "Previous month",
    nextMonth: "Next month",
    previousYear: "Previous year",
    nextYear: "Next year",
    previousDecade: "Previous decade",
    nextDecade: "Next decade",
    take: "Take this time",
  },
  /** Causes whose names say too little. */
  causeNames: {
    wrong: "Wrong password or code",
    exhausted: "Third wrong try of a code",
    locked: "Locked after many failures",
    already_used: "Code used before",
    malformed: "Unreadable passkey",
    not_confirmed: "Not confirmed on the phone",
    not_verified: "Passkey not verified",
  },
  chart: { asTable: "The numbers as a table", time: "Time", odd: "(unlike other days)" },
  overview,
  funnel,
  ...flowWords,
  consoleRoles,
  ...usersWords,
  user,
  ...messagesWords,
  ...lookWords,
  webhooks,
  ...keysWords,
  tables,
  tenants,
  ...settingsWords,
  providers,
  ...applicationsWords,
  imports,
  pages: {
    overview: "Overview",
    users: "Users",
    imports: "Moving in",
    sign_ins: "Sign-ins",
    funnel: "Funnel",
    webhooks: "Webhooks",
    audit_log: "Audit log",
    messages: "Mails and SMS",
    settings: "Settings",
    look: "Look",
    providers: "Identity providers",
    applications: "Applications",
    keys: "API keys",
    signing_keys: "Signing keys",
    tenants: "Tenants",
    roles: "Roles",
  },
} as const;
