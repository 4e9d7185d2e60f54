import type { AccountWords, FlowWords, SignInWords } from "./flow.ts";

/** All texts of a language. */
export function withAccount(words: SignInWords, account: AccountWords): FlowWords {
  return {
    ...words,
    states: { ...words.states, ...account.states },
    actions: { ...words.actions, ...account.actions },
    afterProof: account.afterProof,
    inputs: { ...words.inputs, ...account.inputs },
    sections: account.sections,
    authorization: account.authorization,
    page: { ...words.page, ...account.page },
  };
}
