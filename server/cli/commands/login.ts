import { type Language, languageTags } from "#words/language-tags";
import { interpolate } from "../../../components/flow/words.ts";
import type { FlowType } from "../../flow/names.ts";
import { matchLanguage } from "../../lib/match-language.ts";
import { columns } from "../arguments.ts";
import { type Cli, CommandError, command, UsageError } from "../command.ts";
import { escapeControls } from "../escape-controls.ts";
import { nameOf } from "../options.ts";

/** The flows that end with a session. */
const flows = ["login", "registration"] as const satisfies readonly FlowType[];

export const login = command({
  name: "login",
  summary: "Sign in to a server from this terminal.",
  details: `Draws every state of a login or registration as text: passwords are masked, and QR codes are drawn. Passkeys and
identity providers need a browser. The dialogue is written to standard error, the session to standard output. Without
--print-token the session ends again, because no program holds its token.

With --client the terminal is a device: it shows a code, and its user signs in in any browser (RFC 8628).`,
  options: {
    url: {
      value: "address",
      required: true,
      description: "The server, for instance https://login.example.com.",
    },
    flow: { value: "type", description: `${flows.join(" or ")}; default: login.` },
    language: { value: "tag", description: `${languageTags.join(", ")}; default: that of the terminal.` },
    client: { value: "id", description: "A client of the OpenID provider with the grant device_code." },
    scope: { value: "scopes", description: "What the client asks for; default: openid." },
    "print-token": { description: "Keep the session, and print its token alone." },
    json: { description: "States and actions as lines of JSON, for programs." },
  },
  async run(cli, { url, flow = "login", language, client, scope, "print-token": printToken, json }) {
    if (client !== undefined) return loginAsDevice(cli, { url, language, client, scope, printToken, json });
    if (scope !== undefined) throw new UsageError("--scope is for a --client");
    // Loaded here because no other command needs the words.
    const [
      { translations },
      { baseAddress, claimsOf, flowRequests },
      { prompter },
      screens,
      dialogues,
      lines,
    ] = await Promise.all([
      import("#words/translations"),
      import("../sign-in/flow-requests.ts"),
      import("../sign-in/prompter.ts"),
      import("../sign-in/screen.ts"),
      import("../sign-in/sign-in.ts"),
      import("../sign-in/json-lines.ts"),
    ]);
    const type = nameOf(flow, flows, "a flow that signs in");
    const tag = languageOf(language, cli.environment);
    const words = translations[tag];
    const base = baseAddress(url);
    const interrupted = cli.interruption();
    const requests = flowRequests(base, tag);
    const say = (text: string) => cli.prompt(`${text}\n`);
    const asking = prompter(cli.input, json ? () => {} : cli.prompt, interrupted);
    const endSession = async () => {
      // What is not ended now expires by itself.
      await requests.signOut().catch(() => {});
    };
    try {
      const state = json
        ? await lines.signInByLines({ type, requests, prompter: asking, print: cli.print })
        : await dialogues.signIn({ base, type, words, language: tag, requests, prompter: asking, say });
      const session = requests.session();
      if (!session) throw new CommandError(`${base} issued no session`);
      if (interrupted.aborted) {
        await endSession();
        throw new CommandError("interrupted");
      }
      if (!json) {
        say("");
        for (const line of screens.screenOf(state, words, null, tag).lines.slice(0, 1)) say(line);
        for (const line of screens.payloadLines(state, words)) say(line);
      }
      const claims = claimsOf(session.token) ?? {};
      if (!printToken) await endSession();
      if (json) {
        const { payload } = state;
        await cli.print(
          JSON.stringify({
            name: "success",
            payload,
            claims,
            ...(printToken ? { token: session.token } : {}),
          }),
        );
      } else if (printToken) await cli.print(session.token);
      else for (const line of columns(rowsOf(claims))) await cli.print(escapeControls(line));
    } finally {
      asking.close();
    }
  },
});

/** A login of the terminal as a client, by a code. */
async function loginAsDevice(
  cli: Cli,
  {
    url,
    language,
    client: clientId,
    scope = "openid",
    printToken,
    json,
  }: Record<"url" | "client", string> &
    Record<"language" | "scope", string | undefined> &
    Record<"printToken" | "json", boolean>,
): Promise<void> {
  const [{ translations }, { baseAddress, claimsOf, NoAnswerError }, { signInAsDevice }] = await Promise.all([
    import("#words/translations"),
    import("../sign-in/flow-requests.ts"),
    import("../sign-in/device.ts"),
  ]);
  const { terminal } = translations[languageOf(language, cli.environment)];
  const say = (text: string) => cli.prompt(`${text}\n`);
  const tokens = await signInAsDevice({
    base: baseAddress(url),
    clientId,
    scope,
    tell: (address, code) => say(interpolate(terminal.enterCode, { address, code })),
    show: say,
    interrupted: cli.interruption(),
  }).catch((error: unknown) => {
    throw error instanceof NoAnswerError ? new CommandError(error.message) : error;
  });
  const claims = claimsOf(tokens.id_token ?? "") ?? {};
  if (json) await cli.print(JSON.stringify({ name: "success", claims, ...(printToken ? tokens : {}) }));
  else if (printToken) await cli.print(tokens.access_token);
  else for (const line of columns(rowsOf(claims))) await cli.print(escapeControls(line));
}

/** The claims of a token as rows; times, which are seconds since 1970, as ISO 8601. */
function rowsOf(claims: Record<string, unknown>): [string, string][] {
  const times = ["iat", "exp", "nbf", "auth_time"];
  return Object.entries(claims).map(([name, value]) => [
    name,
    times.includes(name) && typeof value === "number"
      ? new Date(value * 1_000).toISOString()
      : typeof value === "string"
        ? value
        : JSON.stringify(value),
  ]);
}

/** The language that was asked for, else the one of the environment, else English. */
function languageOf(asked: string | undefined, environment: NodeJS.ProcessEnv): Language {
  if (asked !== undefined) {
    const found = matchLanguage([asked], languageTags);
    if (!found) throw new UsageError(`${asked} is not a language: ${languageTags.join(", ")}`);
    return found;
  }
  // POSIX, 8.2: the first that is set counts, for instance de_DE.UTF-8.
  const { LC_ALL, LC_MESSAGES, LANG } = environment;
  const [locale = ""] = (LC_ALL || LC_MESSAGES || LANG || "").split(/[.@]/);
  return matchLanguage([locale.replace("_", "-")], languageTags) ?? "en";
}
