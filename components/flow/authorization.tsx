import type { AuthorizationPayload } from "#server/flow/wire";
import { Breakable } from "../ui/breakable.tsx";
import { isText, listOf, recordOf, textsOf } from "./payload-readers.ts";
import { placeText } from "./place-text.ts";
import { operatorText, scopeText } from "./scope-text.ts";
import type { PayloadProps } from "./view-context.ts";
import { interpolate } from "./words.ts";

/** What an application asks its user for: who it is, what it would know and do, and where the user goes on. */
export function Authorization({
  value,
  words,
  language,
}: Pick<PayloadProps, "value" | "words" | "language">) {
  const { client, host, scopes, texts, allowed, resources, lifetime, device } = recordOf(value) as Partial<
    Record<keyof AuthorizationPayload, unknown>
  >;
  const { id, name, uri, policy_uri, tos_uri, origin } = recordOf(client) as Record<
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
            {scopeText(words, scope, texts, language)}
            {before.has(scope) && <span className="stile-hint"> · {authorization.before}</span>}
          </li>
        ))}
        {listOf(resources).map((resource) => (
          <Api key={String(resource.address)} value={resource} words={words} language={language} />
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
      {(origin === "document" || origin === "registration") && (
        <div className="stile-alert">
          <p>
            <Breakable text={interpolate(authorization[origin], { host: hostOf(id) })} />
          </p>
        </div>
      )}
      {device !== undefined && <Device value={device} words={words} />}
      <p className="stile-hint">
        <Breakable text={destinationText(words, host, device !== undefined)} />
        {typeof lifetime === "number" &&
          ` ${interpolate(authorization.lifetime, { time: timeText(lifetime, language) })}`}
      </p>
    </div>
  );
}

/** Where the user goes on: here, where a device elsewhere asks; at a host; or in an application of this device. */
function destinationText(
  { authorization }: PayloadProps["words"],
  host: unknown,
  elsewhere: boolean,
): string {
  if (elsewhere) return authorization.stays;
  return host ? interpolate(authorization.host, { host: String(host) }) : authorization.device;
}

/** What an application would do at an API: in the operator's words where there are any, else by the names of scopes. */
function Api({ value, words, language }: Pick<PayloadProps, "value" | "words" | "language">) {
  const { address, name, scopes, texts } = recordOf(value);
  const api = String(name ?? address);
  const said = textsOf(scopes).map((scope) => ({
    scope,
    text: operatorText(texts, scope, language),
  }));
  const unsaid = said.filter(({ text }) => text === undefined).map(({ scope }) => scope);
  const { resource, resourceAlone } = words.authorization;
  return (
    <>
      {said.map(
        ({ scope, text }) =>
          text !== undefined && (
            <li key={scope}>
              {text}
              <span className="stile-hint"> · {api}</span>
            </li>
          ),
      )}
      {(unsaid.length > 0 || said.length === 0) && (
        <li>
          <Breakable
            text={interpolate(unsaid.length > 0 ? resource : resourceAlone, {
              address: api,
              scopes: unsaid.join(", "),
            })}
          />
        </li>
      )}
    </>
  );
}

/** A device without a browser: its code, for the user to compare, and where it asks from (RFC 8628, 5.4). */
function Device({ value, words: { authorization } }: Pick<PayloadProps, "value" | "words">) {
  const { code, user_agent, location, ip_address } = recordOf(value);
  const place = [user_agent, placeText(location), ip_address].filter(isText).join(", ");
  const [before, after] = authorization.remote.split("{code}");
  return (
    <div className="stile-alert">
      <p>
        {before}
        <strong>{String(code)}</strong>
        {after}
        {place !== "" && ` ${interpolate(authorization.place, { place })}`}
      </p>
    </div>
  );
}

function isWebAddress(value: unknown): value is string {
  return typeof value === "string" && /^https?:\/\//.test(value);
}

const hostOf = (address: unknown) => URL.parse(String(address))?.host ?? String(address);

const DAY_SECONDS = 86_400;

/** Whole days; hours where it is less than one. */
function timeText(seconds: number, language: string): string {
  const [unit, length] = seconds < DAY_SECONDS ? (["hour", 3600] as const) : (["day", DAY_SECONDS] as const);
  const options = { style: "unit", unit, unitDisplay: "long" } as const;
  return new Intl.NumberFormat(language, options).format(Math.round(seconds / length));
}
