/** The languages of a page. */
export interface LanguagesProps {
  /** Title of the list, in the current language. */
  title: string;
  /** BCP 47 tag of the current language. */
  current: string;
  /** Each language by its own name, and the address of the page in it. */
  languages: readonly { tag: string; direction: "ltr" | "rtl"; name: string; address: string }[];
}

/** Links to the same page in the other languages. */
export function Languages({ title, current, languages }: LanguagesProps) {
  return (
    <nav aria-label={title}>
      <ul className="stile-links">
        {languages.map(({ tag, direction, name, address }) => (
          <li key={tag} lang={tag} dir={direction}>
            {tag === current ? (
              <span aria-current="true">{name}</span>
            ) : (
              <a href={address} hrefLang={tag}>
                {name}
              </a>
            )}
          </li>
        ))}
      </ul>
    </nav>
  );
}
