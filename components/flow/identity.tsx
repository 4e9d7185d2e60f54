import { Breakable } from "../ui/breakable.tsx";
import { Button } from "../ui/button.tsx";
import { isText } from "./payload-readers.ts";
import type { ViewContext } from "./view-context.ts";

/** The value of a form's `action` that abandons the flow. */
export const START_OVER = "start_over";

/**
 * The identifier of the account that a state is about; null where the state names none. In a profile flow only a
 * re-authentication is about the owner's account; other states may name an address that is being verified.
 */
export function identifierOf({ type, flow }: ViewContext): string | null {
  const { identifier, wanted_action } = flow.view.state.payload;
  return isText(identifier) && (type !== "profile" || isText(wanted_action)) ? identifier : null;
}

/** Whose account a state is about, and the way to another one. */
export function Identity({ context }: { context: ViewContext }) {
  const { flow, type, words, base } = context;
  const identifier = identifierOf(context);
  if (identifier === null) return null;
  return (
    <div className="stile-identity">
      <p>
        <span className="stile-hidden">{words.page.account}: </span>
        <strong dir="auto">
          <Breakable text={identifier} />
        </strong>
      </p>
      {type !== "profile" && type !== "consent" && (
        <form
          method="post"
          action={`${base}/step`}
          onSubmit={(event) => {
            event.preventDefault();
            void flow.restart();
          }}
        >
          <input type="hidden" name="flow" value={type} />
          <input type="hidden" name="action" value={START_OVER} />
          <input type="hidden" name="version" value={flow.view.version} />
          <Button tone="link" type="submit">
            {words.page.useAnother}
          </Button>
        </form>
      )}
    </div>
  );
}
