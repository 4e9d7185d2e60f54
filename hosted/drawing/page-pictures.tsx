import type { ReactElement } from "react";
import type { LanguageWords } from "#words/language-words";
import { Confirmation } from "../../components/confirmation/confirmation.tsx";
import { type FrameSituation, FrameView, type FrameViewProps } from "../../components/frame/frame-login.tsx";
import { WindowCard, WindowFailed, WindowSentence } from "../../components/frame/frame-window.tsx";
import { confirmations } from "../../components/gallery/confirmations.ts";
import { states } from "../../components/gallery/states.ts";
import { stillServer } from "../../components/gallery/still-server.ts";
import type { BrandProps } from "../../components/ui/brand.tsx";
import { FailedDrawing } from "../../components/ui/error-boundary.tsx";
import { FrameRefusedPage, MissingPage } from "./messages.tsx";

export interface PictureOptions extends BrandProps {
  words: LanguageWords;
  /** BCP 47 tag of the words. */
  language: string;
}

type PagePicture = (options: PictureOptions) => ReactElement;

const address = "https://login.example/";

/** A frame as it is where nothing has to be said about it. */
const plain: FrameSituation = { window: "none", keepsCookies: true, ignored: null };

const inFrame =
  (situation: Partial<FrameSituation>): PagePicture =>
  ({ words, language }) => {
    const flow = { flow: "login", state: states.login_init, version: 7 } as const;
    const server: FrameViewProps["server"] = {
      ...stillServer({ name: "login_init", ...flow }),
      openWindow() {},
      showWindow() {},
      closeWindow() {},
      status: () => "none",
      subscribe: () => () => {},
    };
    return (
      <FrameView
        {...{ language, server }}
        type={flow.flow}
        initial={flow}
        words={words.flow}
        frameWords={words.frame}
        providerReturn={null}
        page={{ origin: "https://shop.example" }}
        ownOrigin={new URL(address).origin}
        theme={undefined}
        container={{ current: null }}
        situation={{ ...plain, ...situation }}
        signup
      />
    );
  };

const inWindow =
  (content: (words: LanguageWords) => ReactElement): PagePicture =>
  ({ words, language }) => <WindowCard language={language}>{content(words)}</WindowCard>;

const confirming = Object.fromEntries(
  Object.entries(confirmations).map(([name, content]): [string, PagePicture] => [
    name,
    ({ words, ...options }) => (
      <Confirmation
        {...{ content, ...options }}
        words={words.confirmation}
        address="/passkeys/t/transaction/confirm"
        navigate={() => {}}
      />
    ),
  ]),
);

/** Every picture of a page that shows no state of a flow, or says something beside it. */
export const pagePictures: Readonly<Record<string, PagePicture>> = {
  ...confirming,
  missing_page: ({ words: { flow }, ...options }) => (
    <MissingPage
      {...options}
      title={flow.page.notFoundTitle}
      sentence={flow.page.notFoundSentence}
      toSignIn={flow.page.toSignIn}
      signIn="/"
    />
  ),
  failed_drawing: ({ words: { flow } }) => (
    <FailedDrawing
      title={flow.page.errorTitle}
      sentence={flow.errors.technical_error}
      reload={flow.page.reload}
    />
  ),
  frame_without_cookies: inFrame({ keepsCookies: false }),
  frame_window_open: inFrame({ window: "open" }),
  frame_window_blocked: inFrame({ window: "blocked", keepsCookies: false }),
  frame_covered: inFrame({ ignored: "covered" }),
  frame_too_small: inFrame({ ignored: "tooSmall" }),
  frame_refused: ({ words: { frame }, language }) => (
    <FrameRefusedPage language={language} title={frame.refusedTitle} sentence={frame.refusedSentence} />
  ),
  window_working: inWindow(({ flow }) => <WindowSentence>{flow.page.working}</WindowSentence>),
  window_failed: inWindow(({ flow }) => <WindowFailed words={flow} askAgain={() => {}} />),
  window_done: inWindow(({ frame }) => <WindowSentence>{frame.closeWindow}</WindowSentence>),
};
