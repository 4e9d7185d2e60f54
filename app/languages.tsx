import type { Language } from "#words/language-tags";
import { translatedTags, wordsIn } from "#words/translations";

interface LanguagesProps {
  current: Language;
  /** Address of this page, for instance `/?flow=registration`. */
  address: string;
}

/** Links to the same page in the other languages. */
export function Languages({ current, address }: LanguagesProps) {
  const to = (language: string) => `${address}${address.includes("?") ? "&" : "?"}lang=${language}`;
  return (
    <nav aria-label={wordsIn(current).words.flow.page.languages}>
      <ul className="stile-links">
        {translatedTags.map((language) => (
          <li key={language} lang={language}>
            {language === current ? (
              <span aria-current="true">{wordsIn(language).words.name}</span>
            ) : (
              <a href={to(language)} hrefLang={language}>
                {wordsIn(language).words.name}
              </a>
            )}
          </li>
        ))}
      </ul>
    </nav>
  );
}
