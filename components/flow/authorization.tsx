import type { AuthorizationPayload } from "#server/flow/wire";
import type { FlowWords } from "#words/flow";
import { Breakable } from "../ui/breakable.tsx";
import { listOf, recordOf, textsOf } from "./payload-readers.ts";
import { scopeText } from "./scope-text.ts";
import { interpolate } from "./words.ts";

/** What an application asks its user for: who it is, what it would know and do, and where the user goes on. */
export function Authorization({ value, words }: { value: unknown; words: FlowWords }) {
  const { client, host, scopes, allowed, resources } = recordOf(value) as Partial<
    Record<keyof AuthorizationPayload, unknown>
  >;
  const { name, uri, policy_uri, tos_uri } = recordOf(client) as Record<
    keyof AuthorizationPayload["client"],
    unknown
  >;
  const { authorization, links } = words;
  const before = new Set(textsOf(allowed));
  const [beforeName, afterName] = authorization.asks.split("{client}");
  const about = [
    { label: links.privacy, address: policy_uri },
    { label: links.terms, address: tos_uri },
  ].flatMap(({ label, address }) => (isWebAddress(address) ? [{ label, address }] : []));
  return (
    <div className="stile-authorization">
      <p>
        {beforeName}
        <strong dir="auto">
          {isWebAddress(uri) ? (
            <a href={uri} target="_blank" rel="noreferrer">
              {String(name)}
            </a>
          ) : (
            String(name)
          )}
        </strong>
        {afterName}
      </p>
      <ul>
        {textsOf(scopes).map((scope) => (
          <li key={scope}>
            {scopeText(words, scope)}
            {before.has(scope) && <span className="stile-hint"> · {authorization.before}</span>}
          </li>
        ))}
        {listOf(resources).map(({ address, scopes: names }) => (
          <li key={String(address)}>
            <Breakable
              text={interpolate(authorization.resource, {
                address: String(address),
                scopes: textsOf(names).join(", "),
              })}
            />
          </li>
        ))}
      </ul>
      {about.length > 0 && (
        <p className="stile-hint">
          {about.map(({ label, address }, place) => (
            <span key={label}>
              {place > 0 && " · "}
              <a href={address} target="_blank" rel="noreferrer">
                {label}
              </a>
            </span>
          ))}
        </p>
      )}
      <p className="stile-hint">
        <Breakable text={interpolate(authorization.host, { host: String(host) })} />
      </p>
    </div>
  );
}

function isWebAddress(value: unknown): value is string {
  return typeof value === "string" && /^https?:\/\//.test(value);
}
