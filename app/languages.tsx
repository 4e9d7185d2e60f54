import type { FlowType } from "#server/flow/names";
import { languages } from "../components/login/words/languages.ts";
import type { Words } from "../components/login/words/words.ts";

/** Leads to the same page in the other languages. */
export function Languages({ current, flow }: { current: Words; flow: FlowType }) {
  return (
    <nav aria-label={current.page.languages}>
      <ul className="stile-links">
        {languages.map(({ language, languageName }) => (
          <li key={language} lang={language}>
            {language === current.language ? (
              <span aria-current="true">{languageName}</span>
            ) : (
              <a href={`/?flow=${flow}&lang=${language}`} hrefLang={language}>
                {languageName}
              </a>
            )}
          </li>
        ))}
      </ul>
    </nav>
  );
}
