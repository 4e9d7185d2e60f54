import { languages } from "../components/flow/words/languages.ts";
import type { Words } from "../components/flow/words/words.ts";

interface LanguagesProps {
  current: Words;
  /** Of this page, for instance `/?flow=registration`. */
  address: string;
}

/** Leads to the same page in the other languages. */
export function Languages({ current, address }: LanguagesProps) {
  const to = (language: string) => `${address}${address.includes("?") ? "&" : "?"}lang=${language}`;
  return (
    <nav aria-label={current.page.languages}>
      <ul className="stile-links">
        {languages.map(({ language, languageName }) => (
          <li key={language} lang={language}>
            {language === current.language ? (
              <span aria-current="true">{languageName}</span>
            ) : (
              <a href={to(language)} hrefLang={language}>
                {languageName}
              </a>
            )}
          </li>
        ))}
      </ul>
    </nav>
  );
}
