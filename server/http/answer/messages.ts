import type { Message, StartOver } from "./message-document.ts";

/** What the pages of `message-document.ts` say. Every message is here, so that the gallery can show it. */

/** An unknown address, asked for by the form of a page. */
export const missingAddress: Message = ({ page }) => ({
  title: page.notFoundTitle,
  sentence: page.notFoundSentence,
});

/** @param seconds until the source may display a page again */
export const tooManyPages =
  (seconds: number): Message =>
  ({ page, language }) => ({
    title: page.tooManyTitle,
    sentence: page.tooManySentence.replace("{time}", secondsIn(language, seconds)),
    wayOn: "reload",
  });

/**
 * A link of an application whose return address is refused. Most people who see it followed that link; its developers
 * read the detail, and the log.
 *
 * @param home path of the sign-in page
 * @param from the page with the link, if the browser names it
 */
export const refusedDestination =
  (detail: string, home: string, from: URL | undefined): Message =>
  ({ page }) => ({
    title: page.badReturnTitle,
    sentence: page.badReturnSentence,
    detail,
    from,
    wayOn: { home },
  });

/**
 * An error in JSON, to a person.
 *
 * @param home path of the sign-in page; null if no tenant was found
 */
export const refusedRequest =
  (status: number, detail: string, home: string | null): Message =>
  (words) => ({ ...textsOf(status)(words), detail, ...(home === null ? {} : { wayOn: { home } }) });

const textsOf =
  (status: number): Message =>
  ({ page, errors }) => {
    if (status === 503) return { title: page.tooManyTitle, sentence: errors.temporarily_unavailable };
    if (status >= 500) return { title: page.errorTitle, sentence: errors.technical_error };
    if (status === 429) return { title: page.tooManyTitle, sentence: errors.rate_limit_exceeded };
    return { title: page.badReturnTitle, sentence: page.badLinkSentence };
  };

/**
 * @param temporary whether a later attempt may succeed
 * @param startOver abandons the flow whose state could not be drawn; null where the page shows none
 */
export const failedPage =
  (temporary: boolean, startOver: StartOver | null = null): Message =>
  ({ page, errors }) => ({
    title: page.errorTitle,
    sentence: temporary ? errors.temporarily_unavailable : errors.technical_error,
    wayOn: startOver ?? "reload",
  });

/**
 * The page of the link in a mail.
 *
 * @param holdsFlow whether this browser began what the link goes on with; any other is shown the code
 * @param action the path that the press is posted to
 * @param token of the link
 */
export const mailedLinkPage =
  (holdsFlow: boolean, { action, token }: { action: string; token: string }): Message =>
  ({ page }) => ({
    title: page.linkTitle,
    sentence: holdsFlow ? page.linkSentence : page.linkElsewhereSentence,
    wayOn: { label: holdsFlow ? page.linkContinue : page.linkShowCode, action, fields: { token } },
  });

/** The code of a link that was opened in another browser than the one that began. */
export const codeOfLink =
  (code: string): Message =>
  ({ page }) => ({ title: page.linkCodeTitle, sentence: page.linkCodeSentence, code });

/**
 * What an operator is asked who signs in as a user.
 *
 * @param granted `name`: of the user; `seconds`: how long it lasts
 * @param hasOther whether the browser has another session here
 * @param press the form of the button
 */
export const actAsPage =
  (
    { name, seconds }: { name: string; seconds: number },
    hasOther: boolean,
    press: { action: string; fields: Record<string, string> },
  ): Message =>
  ({ page, language }) => ({
    title: page.actAsTitle.replace("{name}", () => name),
    sentence: [
      page.actAsSentence.replace("{time}", () => minutesIn(language, Math.ceil(seconds / 60))),
      ...(hasOther ? [page.actAsInstead] : []),
    ].join(" "),
    wayOn: { label: page.actAsButton, ...press },
  });

/** The link by which an operator signs in as a user, where it is used, late or in another browser, or may not be used any more. */
export const actAsGone: Message = ({ page }) => ({
  title: page.actAsGoneTitle,
  sentence: page.actAsGoneSentence,
});

/** Tells before a test sign-in who is shown what the provider states. @param press the form of the button */
export const providerTestPage =
  (press: { action: string; fields: Record<string, string> }): Message =>
  ({ page }) => ({
    title: page.testTitle,
    sentence: page.testSentence,
    wayOn: { label: page.testButton, ...press },
  });

/** The same when the button was pressed. @param href the address of the provider, which the browser opens by itself */
export const providerTestNext =
  (href: string): Message =>
  ({ page }) => ({
    title: page.testTitle,
    sentence: page.testSentence,
    wayOn: { text: page.testButton, href },
  });

/**
 * A link whose code is used, replaced, expired or without attempts.
 *
 * @param home path of the page that shows where this browser stands
 */
export const endedLink =
  (home: string): Message =>
  ({ page }) => ({ title: page.linkEndedTitle, sentence: page.linkEndedSentence, wayOn: { home } });

/**
 * Asks a user whom an application has sent here whether to sign out.
 *
 * @param action the path that the press is posted to
 * @param fields what the application has asked for
 */
export const signOutPage =
  (action: string, fields: Readonly<Record<string, string>>): Message =>
  ({ page }) => ({
    title: page.signOutTitle,
    sentence: page.signOutSentence,
    wayOn: { label: page.signOutButton, action, fields },
  });

/** @param from the page of the application that asked for it, if it has named one */
export const signedOut =
  (from: URL | undefined): Message =>
  ({ page }) => ({ title: page.signedOutTitle, sentence: page.signedOutSentence, from });

/** @param href the address at which the sign-out goes on, which the browser opens by itself */
export const signedOutNext =
  (href: string): Message =>
  ({ page }) => ({
    title: page.signedOutTitle,
    sentence: page.signedOutNext,
    wayOn: { text: page.linkContinue, href },
  });

/**
 * Signs the browser out of applications whose pages it loads. An application may have its user sign out in a frame, which goes
 * on through this page.
 *
 * @param frames addresses of these pages
 * @param href the address at which the sign-out goes on, which the browser opens by itself; null if it ends here
 */
export const signedOutOfApplications =
  (frames: readonly string[], href: string | null): Message =>
  ({ page }) => ({
    title: page.signedOutTitle,
    // The page that stays says what is true once the frames have loaded, which it does not learn without a script.
    sentence: href === null ? page.signedOutSentence : page.signedOutOfApplications,
    frames,
    framable: true,
    ...(href === null ? {} : { wayOn: { text: page.linkContinue, href, followed: true } }),
  });

/** "42 seconds" */
function secondsIn(language: string, seconds: number): string {
  return new Intl.NumberFormat(language, { style: "unit", unit: "second", unitDisplay: "long" }).format(
    seconds,
  );
}

function minutesIn(language: string, minutes: number): string {
  return new Intl.NumberFormat(language, { style: "unit", unit: "minute", unitDisplay: "long" }).format(
    minutes,
  );
}

/** One of each for the gallery. */
export const messages: Readonly<Record<string, Message>> = {
  message_missing_address: missingAddress,
  message_act_as: actAsPage({ name: "ada@example.com", seconds: 900 }, false, {
    action: "/impersonation",
    fields: {},
  }),
  message_act_as_instead: actAsPage({ name: "ada@example.com", seconds: 900 }, true, {
    action: "/impersonation",
    fields: {},
  }),
  message_act_as_gone: actAsGone,
  message_provider_test: providerTestPage({ action: "/thirdparty/test", fields: {} }),
  message_too_many_pages: tooManyPages(42),
  message_refused_destination: refusedDestination(
    "`redirect_to` is not an allowed address (hosted.allowed_redirect_urls).",
    "/",
    new URL("https://shop.example/"),
  ),
  message_refused_link: refusedRequest(400, "`token` is missing.", "/"),
  message_rate_limited: refusedRequest(429, "Too many requests.", "/"),
  message_unavailable: refusedRequest(503, "The service is busy. Retry later.", null),
  message_link: mailedLinkPage(true, { action: "/mailed-link", token: "AAAA" }),
  message_link_elsewhere: mailedLinkPage(false, { action: "/mailed-link", token: "AAAA" }),
  message_link_code: codeOfLink("048213"),
  message_link_ended: endedLink("/"),
  message_sign_out: signOutPage("/oauth/logout", {}),
  message_signed_out_next: signedOutNext("/logout/provider?state=AAAA"),
  message_signed_out_of_applications: signedOutOfApplications([], "https://shop.example/"),
  message_signed_out: signedOut(new URL("https://shop.example/")),
  message_failed: refusedRequest(500, "Internal server error.", "/"),
  message_failed_page: failedPage(false),
  message_failed_state: failedPage(false, { flow: "login", action: "/step" }),
  message_failed_page_for_now: failedPage(true),
};
