import { Alert } from "../ui/alert.tsx";
import { Button } from "../ui/button.tsx";
import type { ViewContext } from "./view-context.ts";
import { codeOf, errorText } from "./words.ts";

/** The error of the state and the notice beside it. */
export function StateAlerts({
  context,
  inputErrorShown,
}: {
  context: ViewContext;
  inputErrorShown: boolean;
}) {
  const { flow, words, copy } = context;
  const { state, notice, busy } = flow.view;
  const { error } = state;
  // The error is already shown beside a field.
  const shown = error && !(inputErrorShown && error.code === "form_data_invalid_error") ? error : null;
  return (
    <>
      {notice && (
        <Alert tone={infoCodes.has(notice) ? "info" : "error"}>
          <p>{errorText(words, { code: notice }, undefined, copy)}</p>
          {notice === "connection_missing" && (
            <Button tone="link" type="button" busy={busy !== null} onClick={() => void flow.retry()}>
              {words.page.tryAgain}
            </Button>
          )}
        </Alert>
      )}
      {shown && codeOf(shown) !== notice && (
        <Alert tone={infoCodes.has(codeOf(shown)) ? "info" : "error"}>
          <p>{errorText(words, shown, undefined, copy)}</p>
        </Alert>
      )}
    </>
  );
}

/** Codes that are shown as information, not as errors. */
const infoCodes = new Set([
  "connection_lost",
  "connection_back",
  "page_out_of_date",
  "page_renewed",
  "proved_again",
  "passkey_cancelled",
  "third_party_access_denied",
  "authenticator_request_pending",
  "authenticator_request_expired",
  "unauthorized",
]);
