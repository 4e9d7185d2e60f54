import type { ImpersonationPayload } from "#server/flow/wire";
import { Alert } from "../ui/alert.tsx";
import { isText, recordOf } from "./payload-readers.ts";
import { SignOut } from "./sign-out.tsx";
import type { ViewContext } from "./view-context.ts";
import { interpolate } from "./words.ts";

/** The operator who acts in the session as its user; null for the user. */
export function impersonationIn({ impersonation }: Record<string, unknown>): ImpersonationPayload | null {
  const { name, until, reason } = recordOf(impersonation);
  return isText(name) && isText(until) && isText(reason) ? { name, until, reason } : null;
}

/** Says who acts as the user, until when and why, with a button that ends it. */
export function Impersonation({
  context,
  value: { name, until, reason },
  navigate,
}: {
  context: ViewContext;
  value: ImpersonationPayload;
  navigate: (url: string) => void;
}) {
  const { words, language, live } = context;
  const format = new Intl.DateTimeFormat(language, {
    hour: "numeric",
    minute: "2-digit",
    // The server does not know the zone of the reader.
    ...(live ? {} : { timeZone: "UTC", timeZoneName: "short" }),
  });
  const time = format.format(new Date(until));
  return (
    <div className="stile-acting">
      <Alert tone="info">
        <p dir="auto">{interpolate(words.page.actedAs, { name, time, reason })}</p>
      </Alert>
      <SignOut {...{ context, navigate }} label={words.page.endActing} />
    </div>
  );
}
