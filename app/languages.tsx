import { directionOf } from "#words/direction";
import { languageTags, type PageLanguage } from "#words/language-tags";
import { translations } from "#words/translations";

interface LanguagesProps {
  current: PageLanguage;
  /** Names this list. */
  label: string;
  /** Address of this page, for instance `/?flow=registration`. */
  address: string;
}

/** Links to the same page in the other languages. */
export function Languages({ current, label, address }: LanguagesProps) {
  const to = (language: string) => `${address}${address.includes("?") ? "&" : "?"}lang=${language}`;
  return (
    <nav aria-label={label}>
      <ul className="stile-links">
        {languageTags.map((language) => (
          <li key={language} lang={language} dir={directionOf(language)}>
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
