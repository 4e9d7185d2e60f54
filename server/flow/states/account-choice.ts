import { z } from "zod";
import { isOfSession, knownAccount } from "../../account/browser-accounts.ts";
import { circumstance, holds } from "../../conditions/condition.ts";
import { maskedIdentifier } from "../../lib/masked-identifier.ts";
import { unmarkAccount } from "../../sessions/account-marks.ts";
import { continueWithLoginIdentifier, identificationBy } from "../actions/continue-with-login-identifier.ts";
import { resumeAddress } from "../authorization.ts";
import type { FlowData } from "../data.ts";
import { type Asking, type Context, choice, state, type View } from "../define.ts";
import { methodStates } from "../login-methods.ts";
import { STAY } from "../names.ts";
import { go, type Outcome, stay } from "../outcome.ts";
import { oneOf } from "../profile/choice.ts";

type Account = NonNullable<FlowData["choice"]>["accounts"][number];

const accountsOf = ({ data }: View): Account[] => data.choice?.accounts ?? [];

/** Those that the browser has signed in to before; it may forget them. */
const formerOf = (view: View): Account[] => accountsOf(view).filter(({ key }) => !isOfSession(key));

const hasAccounts = (of: string, accounts: (view: View) => Account[]) =>
  circumstance<View>(of, (view) => accounts(view).length > 0, {
    holds: "the browser has such an account",
    fails: "the browser has no such account",
  });

const keyOf = (accounts: readonly Account[]) => oneOf(accounts.map(({ key, name }) => ({ id: key, name })));

/** The user chooses an account of the browser, because an application asks for that (OpenID Connect Core, 3.1.2.1). */
export const accountChoice = state({
  name: "account_choice",
  needs: ["choice"],
  actions: (action) => ({
    account_choose: action({
      description: "Go on as an account of this browser.",
      costs: ["write", "mail"],
      input: (view) => z.strictObject({ chosen_account: keyOf(accountsOf(view)) }),
      when: hasAccounts("accounts", accountsOf),
      to: ["consent_answered", "login_init", "login_method_chooser", ...methodStates, "thirdparty"],
      asks(asking, { chosen_account: key }) {
        const account = typeof key === "string" ? knownAccount(presentOf(asking), key) : null;
        const { config } = asking.tenant;
        return (
          account &&
          (continueWithLoginIdentifier.asks?.(asking, identificationBy(account.identifier, config)) ?? null)
        );
      },
      async run(context, { chosen_account: key }, found) {
        const { request, config } = context;
        if (isOfSession(key)) return goOn(context);
        const account = knownAccount(request, key);
        if (!account || !holds(continueWithLoginIdentifier.when, context)) return go("login_init");
        const entered = identificationBy(account.identifier, config);
        // As in a browser without a mark: the method that was used here would tell whether the account still has the identifier.
        const client = { ...request.client, markCookie: null };
        const unmarked = { ...context, request: { ...request, client } };
        const identified = await continueWithLoginIdentifier.run(unmarked, entered, found);
        // Whether the account exists is no more said than to a user who enters its identifier.
        if (identified.kind === "reject") return go("login_init");
        return shownMasked(identified, account.identifier);
      },
    }),
    account_other: choice({ description: "Sign in with another account.", costs: [], to: "login_init" }),
    account_forget: action({
      description: "Remove an account from this browser.",
      input: (view) => z.strictObject({ forgotten_account: keyOf(formerOf(view)) }),
      when: hasAccounts("former_accounts", formerOf),
      to: [STAY, "login_init"],
      run(context, { forgotten_account: key }) {
        const { request, data } = context;
        const account = knownAccount(request, key);
        const accounts = data.choice.accounts.filter((other) => other.key !== key);
        const effects = {
          data: { choice: { ...data.choice, accounts } },
          ...(account ? { cookieChanges: { mark: unmarkAccount(request, account.userId) } } : {}),
        };
        return accounts.length > 0 ? stay(effects) : go("login_init", effects);
      },
    }),
  }),
});

/** What the mark of a browser is read with, before the flow is. */
const presentOf = ({ runtime, tenant, client, known }: Asking) => ({
  runtime,
  tenant,
  client,
  now: known?.now ?? new Date(Date.now() + runtime.platform.clockShift()),
});

/** The user who is signed in goes on to the application. The session may have ended since, or be that of another user. */
async function goOn({ request, data }: Context<"choice">) {
  const { runtime, tenant, session } = request;
  const { choice } = data;
  if (!session || session.userId !== choice.userId) return go("login_init");
  const write = await runtime.openid.chooseAccount(request, session, choice.request);
  return go("consent_answered", {
    // A request that has ended, or that a new sign-in has answered, says so itself.
    writes: write ? [write] : [],
    payload: { redirect_url: resumeAddress(tenant.config, choice) },
  });
}

type Move = Extract<Outcome, { kind: "move" }>;

/** The states after it name the account as this one did: another person may have chosen it. */
function shownMasked(identified: Move, identifier: string): never {
  const { data } = identified.effects;
  const masked = data?.identifier && { ...data.identifier, typed: maskedIdentifier(identifier) };
  const effects = masked
    ? { ...identified.effects, data: { ...data, identifier: masked } }
    : identified.effects;
  return { ...identified, effects } as never;
}
