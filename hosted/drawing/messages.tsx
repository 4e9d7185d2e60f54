import { Brand, type BrandProps } from "../../components/ui/brand.tsx";

interface MessageProps {
  /** BCP 47 tag of the texts. */
  language: string;
  title: string;
  sentence: string;
}

/** The page for unknown addresses. */
export function MissingPage({
  language,
  title,
  sentence,
  toSignIn,
  signIn,
  ...brand
}: MessageProps & BrandProps & { toSignIn: string /** Address of the sign-in. */; signIn: string }) {
  return (
    <main className="stile-page" lang={language}>
      <Brand {...brand} />
      <div className="stile-card">
        <div className="stile-content">
          <h1 className="stile-title">{title}</h1>
          <p className="stile-sentence">{sentence}</p>
          <a className="stile-button stile-button-primary" href={signIn}>
            {toSignIn}
          </a>
        </div>
      </div>
    </main>
  );
}

/** What a frame shows whose page is not on the list. */
export function FrameRefusedPage({ language, title, sentence }: MessageProps) {
  return (
    <main className="stile-frame" lang={language}>
      <section className="stile-content">
        <h1 className="stile-title">{title}</h1>
        <p className="stile-sentence">{sentence}</p>
      </section>
    </main>
  );
}
