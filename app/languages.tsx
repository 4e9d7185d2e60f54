import { type Language, languageTags } from "#words/language-tags";
import { translations } from "#words/translations";

interface LanguagesProps {
  current: Language;
  /** Address of this page, for instance `/?flow=registration`. */
  address: string;
}

/** Links to the same page in the other languages. */
export function Languages({ current, address }: LanguagesProps) {
  const to = (language: string) => `${address}${address.includes("?") ? "&" : "?"}lang=${language}`;
  return (
    <nav aria-label={translations[current].flow.page.languages}>
      <ul className="stile-links">
        {languageTags.map((language) => (
          <li key={language} lang={language}>
            {language === current ? (
              <span aria-current="true">{translations[language].name}</span>
            ) : (
              <a href={to(language)} hrefLang={language}>
                {translations[language].name}
              </a>
            )}
          </li>
        ))}
      </ul>
    </nav>
  );
}
