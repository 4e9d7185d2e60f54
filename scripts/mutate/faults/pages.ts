import type { Fault } from "../fault.ts";

/** Faults of the pages. */
export const pageFaults: readonly Fault[] = [
  {
    name: "confirmation buttons take a second answer",
    file: "components/confirmation/question-view.tsx",
    text: '            busy={busy === "confirm"}\n            disabled={!live || busy !== null}',
    fault: '            busy={busy === "confirm"}\n            disabled={!live}',
    caughtBy: ["components/confirmation/confirmation.isolated.test.tsx"],
  },
  {
    name: "an accent that cannot be read is used",
    file: "server/theme/theme-css.ts",
    text: "accent: readable(accent, grounds, TEXT)",
    fault: "accent",
    caughtBy: ["server/theme/theme-css.test.ts"],
  },
  {
    name: "a passkey is prompted for again without the user's request",
    file: "components/flow/ceremonies.ts",
    text: 'if (ceremony.mode === "blocking" && state.error && !requested) return null;',
    fault: "",
    caughtBy: ["components/flow/use-ceremony.test.tsx"],
  },
  {
    name: "a page follows an address that is a script",
    file: "components/flow/ceremonies.ts",
    text: 'return url.protocol === "https:" || url.protocol === "http:" ? url : null;',
    fault: "return url;",
    caughtBy: ["components/flow/use-ceremony.test.tsx", "components/flow/third-party.test.tsx"],
  },
  {
    name: "a page leaves before the recovery codes are saved",
    file: "components/flow/use-ceremony.ts",
    text: "if (ready && !unsavedCodes && destination)",
    fault: "if (ready && destination)",
    caughtBy: ["components/flow/recovery-codes.test.tsx"],
  },
  {
    name: "a switch keeps showing what does not hold",
    file: "components/flow/action-form.tsx",
    text: 'if (tone === "toggle" && live && awaited === 0) form.current?.reset();',
    fault: "",
    caughtBy: ["components/flow/action-form.test.tsx"],
  },
  {
    name: "a switch falls back while its newest change is awaited",
    file: "components/flow/action-form.tsx",
    text: 'if (tone === "toggle" && live && awaited === 0)',
    fault: 'if (tone === "toggle" && live)',
    caughtBy: ["components/flow/action-form.test.tsx"],
  },
  {
    name: "the link of another mailbox uses up a try of the code that its flow waits for",
    file: "server/http/page/mailed-link.ts",
    text: "if (!isCurrent || !isMailedFor(request, link.code, awaitedCode))",
    fault: "if (!isCurrent)",
    caughtBy: ["server/http/page/mailed-link.test.ts"],
  },
  {
    name: "a link signs in any browser that waits for a code",
    file: "server/http/page/mailed-link.ts",
    text: "if (flow?.flowId === flowId) return { type, flow };",
    fault: "if (flow) return { type, flow };",
    caughtBy: ["server/http/page/mailed-link.test.ts"],
  },
  {
    name: "a link that a newer mail has replaced is valid",
    file: "server/methods/passcode/passcodes.ts",
    text: "return runtime.vault.matches(splitDigest(stored.digest).mac, ...parts);",
    fault: "return parts.length > 0;",
    caughtBy: ["server/http/page/mailed-link.test.ts"],
  },
  {
    name: "the press of a link does nothing after a lost answer",
    file: "server/http/page/page-flow.ts",
    text: "if (!isNotPermitted(acted)) return acted;",
    fault: "if (acted) return acted;",
    caughtBy: ["server/http/page/mailed-link.test.ts"],
  },
  {
    name: "the link of another tenant opens",
    file: "server/methods/mailed-link/mailed-link.ts",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: source of a template
    text: "`mailed link/${id}`",
    fault: "id.slice(0, 0)",
    caughtBy: ["server/methods/mailed-link/mailed-link.test.ts"],
  },
];
