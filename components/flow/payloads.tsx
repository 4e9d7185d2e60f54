import { CopyButton } from "../ui/copy-button.tsx";
import { clockTime } from "../ui/countdown.ts";
import { User } from "./user.tsx";
import type { Drawings, PayloadProps, ViewContext } from "./view-context.ts";
import { interpolate } from "./words.ts";

/** Other members are for scripts. */
const drawings: Drawings = {
  otp_image_source: QrCode,
  otp_secret: Secret,
  qr_image_source: ScanCode,
  events_href: Waiting,
  resend_after: Wait,
  user: User,
};

/** Draws the payload of a state. */
export function Payloads({
  payload,
  context: { words, language, base, drawings: more },
}: {
  payload: Record<string, unknown>;
  context: Pick<ViewContext, "words" | "language" | "base" | "drawings">;
}) {
  const common = { words, language, base, path: payload.picture_path };
  return Object.entries({ ...drawings, ...more })
    .filter(([member]) => Object.hasOwn(payload, member))
    .map(([member, Drawing]) => <Drawing key={member} value={payload[member]} {...common} />);
}

function QrCode({ value, words, size = 200 }: PayloadProps & { size?: number }) {
  if (typeof value !== "string" || !value.startsWith("data:image/")) return null;
  // biome-ignore lint/performance/noImgElement: there is nothing to optimise in a data URL
  return <img className="stile-qr" src={value} alt={words.page.qrCode} width={size} height={size} />;
}

/** Larger than other QR codes: it encodes a whole address with a token. */
function ScanCode(props: PayloadProps) {
  return <QrCode {...props} size={264} />;
}

/** Shown only with scripts, which alone can wait for the authenticator. */
function Waiting({ words }: PayloadProps) {
  return (
    <p className="stile-waiting stile-with-script" role="status">
      <span className="stile-pulse" aria-hidden="true" />
      <span>{words.page.waitingForAuthenticator}</span>
    </p>
  );
}

function Secret({ value, words }: PayloadProps) {
  if (typeof value !== "string") return null;
  return (
    <div className="stile-secret">
      <p>
        <span className="stile-label">{words.page.secret}</span>
        <code dir="ltr">{value.replace(/(.{4})(?=.)/g, "$1 ")}</code>
      </p>
      <CopyButton text={value} label={words.page.copy} done={words.page.copied} />
    </div>
  );
}

/** Shown only without scripts; with scripts the button counts down. */
function Wait({ value, words }: PayloadProps) {
  if (typeof value !== "number" || !(value > 0)) return null;
  return (
    <p className="stile-hint stile-without-script">
      {interpolate(words.page.waitFor, { time: clockTime(Math.ceil(value)) })}
    </p>
  );
}
