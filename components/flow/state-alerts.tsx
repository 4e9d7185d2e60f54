import { Alert } from "../ui/alert.tsx";
import { Button } from "../ui/button.tsx";
import type { Stage } from "./view-context.ts";
import { errorText } from "./words.ts";

/** What is wrong with the state as a whole, and what there is to tell beside it. */
export function Problems({ stage, told }: { stage: Stage; told: boolean }) {
  const { flow, words, here } = stage;
  const { state, notice, busy } = flow.view;
  const { error } = state;
  // What stands beside a field need not be said twice.
  const shown = error && !(told && error.code === "form_data_invalid_error") ? error : null;
  return (
    <>
      {notice && (
        <Alert tone={calm.has(notice) ? "news" : "problem"}>
          <p>{errorText(words, { code: notice }, undefined, here)}</p>
          {notice === "connection_missing" && (
            <Button tone="link" type="button" busy={busy !== null} onClick={() => void flow.retry()}>
              {words.page.tryAgain}
            </Button>
          )}
        </Alert>
      )}
      {shown && shown.code !== notice && (
        <Alert tone={calm.has(shown.code) ? "news" : "problem"}>
          <p>{errorText(words, shown, undefined, here)}</p>
        </Alert>
      )}
    </>
  );
}

/** Notices that report no failure of anybody's. */
const calm = new Set([
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
