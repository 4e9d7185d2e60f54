import { headers } from "next/headers";
import { currentRuntime } from "#server/runtime-slot";
import { Mark } from "../components/ui/mark.tsx";
import { UnknownConfirmationPage } from "./confirm/confirmation-page.tsx";
import { UNKNOWN_CONFIRMATION } from "./missing-page.ts";
import { pageWords } from "./page-words.ts";

/** The page for unknown addresses, with status 404. */
export default async function NotFound() {
  const confirmation = (await headers()).get(UNKNOWN_CONFIRMATION);
  if (confirmation !== null) return <UnknownConfirmationPage path={confirmation} />;
  const { config } = currentRuntime().tenant;
  const { page } = (await pageWords(config)).words.flow;
  const service = config.service.name;
  return (
    <main className="stile-page">
      <title>{`${page.notFoundTitle} · ${service}`}</title>
      <p className="stile-brand">
        <Mark />
        <span>{service}</span>
      </p>
      <div className="stile-card">
        <div className="stile-content">
          <h1 className="stile-title">{page.notFoundTitle}</h1>
          <p className="stile-sentence">{page.notFoundSentence}</p>
          <a className="stile-button stile-button-primary" href="/">
            {page.toSignIn}
          </a>
        </div>
      </div>
    </main>
  );
}
