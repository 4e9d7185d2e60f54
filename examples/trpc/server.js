import { createHash, randomBytes } from "node:crypto";
import { createStile, StileError } from "@stile-auth/server";
import express from "express";

const stileUrl = process.env.STILE_URL ?? "http://localhost:3000";
const appUrl = process.env.APP_URL ?? "http://localhost:4000";
const stile = createStile({ baseUrl: stileUrl, cookieName: "session" });

/** No script reads the cookies, and pages of other sites do not send them. */
const cookie = { httpOnly: true, sameSite: "lax", secure: appUrl.startsWith("https:") };

const app = express();

// Pages of other origins change nothing here (cross-site request forgery).
app.use((request, response, next) => {
  if (request.method === "GET" || request.headers.origin === appUrl) return next();
  response.status(403).json({ error: "cross-site" });
});
app.use(express.json());

/** Begins a sign-in: the verifier stays in a cookie, the page receives its challenge (RFC 7636, S256). */
app.post("/api/sign-in", (request, response) => {
  // Two open tabs share a verifier.
  const verifier = cookieOf(request, "verifier") ?? randomBytes(32).toString("base64url");
  const codeChallenge = createHash("sha256").update(verifier).digest("base64url");
  response.cookie("verifier", verifier, cookie).json({ url: stileUrl, codeChallenge });
});

/** Ends it: the code becomes a session, whose token no page sees. */
app.post("/api/session", async (request, response) => {
  const verifier = cookieOf(request, "verifier");
  const code = request.body?.code;
  if (!verifier || typeof code !== "string") return response.status(400).json({ error: "no sign-in" });
  const { token, expiresAt } = await stile.redeemCode(code, verifier);
  response.clearCookie("verifier", cookie).cookie("session", token, { ...cookie, expires: expiresAt });
  response.status(204).end();
});

app.get("/api/me", async (request, response) => {
  const verified = await stile.verifySession(request);
  if (!verified.ok) return response.status(401).json({ error: verified.reason });
  const { userId, email } = verified.session;
  response.json({ userId, email });
});

app.post("/api/sign-out", async (request, response) => {
  await stile.endSession(request);
  response.clearCookie("session", cookie).status(204).end();
});

app.use(
  express.static("public", {
    setHeaders: (response) => response.set("content-security-policy", policy),
  }),
);

/** Scripts and requests of the page itself and of Stile alone. */
const policy = [
  "default-src 'self'",
  ...["script-src", "connect-src", "frame-src"].map((kind) => `${kind} 'self' ${stileUrl}`),
  `img-src 'self' data: ${stileUrl}`,
  "frame-ancestors 'none'",
].join("; ");

// A code that is wrong, used or older than a minute is the page's error; without Stile nothing is known: 503.
app.use((error, _request, response, next) => {
  if (!(error instanceof StileError)) return next(error);
  const status = error.status === 400 ? 400 : 503;
  response.status(status).json({ error: status === 400 ? "code" : "unavailable" });
});

/** The value of a cookie of a request. */
function cookieOf({ headers }, name) {
  const pairs = (headers.cookie ?? "").split(";").map((pair) => pair.trim().split("="));
  return pairs.find(([key]) => key === name)?.[1];
}

app.listen(process.env.PORT ?? 4000, "127.0.0.1", () => console.log(appUrl));
