import type { FlowState } from "#server/flow/wire";
import type { FlowWords } from "#words/flow";

/** The links of a state. Names that the words do not have are drawn as the server sent them. */
export function StateLinks({ state, words }: { state: FlowState; words: FlowWords }) {
  const names: Readonly<Record<string, string>> = words.links;
  if (!state.links || state.links.length === 0) return null;
  return (
    <ul className="stile-links">
      {state.links.map(({ name, href, target }) => (
        <li key={name}>
          <a href={href} target={target} rel="noreferrer">
            {Object.hasOwn(names, name) ? names[name] : name}
          </a>
        </li>
      ))}
    </ul>
  );
}

/** What a new user accepts by signing up, as far as the state has links to it. */
export function Consent({ state, words }: { state: FlowState; words: FlowWords }) {
  const sentences = (["terms", "privacy"] as const).flatMap((name) => {
    const link = state.links?.find((each) => each.name === name);
    const [before, after] = words.consent[name].split("{link}");
    return link ? [{ name, link, before, after }] : [];
  });
  // The action that creates an account.
  if (!Object.hasOwn(state.actions, "register_login_identifier") || sentences.length === 0) return null;
  return (
    <p className="stile-consent">
      {sentences.map(({ name, link, before, after }, place) => (
        <span key={name}>
          {place > 0 && " "}
          {before}
          <a href={link.href} target={link.target} rel="noreferrer">
            {words.links[name]}
          </a>
          {after}
        </span>
      ))}
    </p>
  );
}
