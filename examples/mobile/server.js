import { createHash, randomBytes } from "node:crypto";
import { createStile, StileError } from "@stile-auth/server";
import express from "express";

const stile = createStile({ baseUrl: process.env.STILE_URL ?? "http://localhost:3000" });

/** What opens the app on the phone, for instance com.example.shop:/signed-in. Here the stand-in listens. */
const appLink = process.env.APP_LINK ?? "http://127.0.0.1:4001/signed-in";

/** Sessions of the app: the hash of their id, and the token of Stile. A table of your database in production. */
const sessions = new Map();
const hash = (text) => createHash("sha256").update(text).digest("hex");

const app = express();
app.use(express.json());

/** The universal link. Where the app is installed, the phone opens it in its place; else this page leads there. */
app.get("/signed-in", (request, response) => {
  const { code, state } = request.query;
  if (![code, state].every((value) => typeof value === "string" && /^[\w-]{1,512}$/.test(value)))
    return response.status(400).send("No sign-in.");
  const link = `${appLink}?code=${code}&amp;state=${state}`;
  response.set("referrer-policy", "no-referrer").send(`<!doctype html><title>Shop</title>
    <meta http-equiv="refresh" content="0; url=${link}"><a href="${link}">Open the app</a>`);
});

/** The code of a sign-in becomes a session of the app. */
app.post("/api/sessions", async (request, response) => {
  const { code, codeVerifier } = request.body ?? {};
  if (typeof code !== "string" || typeof codeVerifier !== "string")
    return response.status(400).json({ error: "code" });
  const { token, expiresAt } = await stile.redeemCode(code, codeVerifier);
  const id = randomBytes(32).toString("base64url");
  sessions.set(hash(id), token);
  response.status(201).json({ session: id, expiresAt });
});

app.get("/api/me", requireSession, (request, response) => {
  const { userId, email } = request.session;
  response.json({ userId, email });
});

app.delete("/api/sessions", requireSession, async (request, response) => {
  await stile.endSession(sessions.get(request.key));
  sessions.delete(request.key);
  response.status(204).end();
});

/** Answers 401 unless the session exists here and at Stile, where it can be ended too. */
async function requireSession(request, response, next) {
  const [, id = ""] = /^Bearer ([\w-]+)$/i.exec(request.headers.authorization ?? "") ?? [];
  request.key = hash(id);
  const verified = await stile.verifySession(sessions.get(request.key));
  if (!verified.ok) {
    sessions.delete(request.key);
    return response.status(401).json({ error: "no session" });
  }
  request.session = verified.session;
  next();
}

// A code that is wrong, used or older than a minute is the app's error; without Stile nothing is known: 503.
app.use((error, _request, response, next) => {
  if (!(error instanceof StileError)) return next(error);
  const status = error.status === 400 ? 400 : 503;
  response.status(status).json({ error: status === 400 ? "code" : "unavailable" });
});

app.listen(process.env.PORT ?? 4000, "127.0.0.1", () => console.log("The back end is ready."));
