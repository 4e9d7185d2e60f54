import { createStile, StileError } from "@stile-auth/server";
import express from "express";

const stile = createStile({
  baseUrl: process.env.STILE_URL,
  webhookSecret: process.env.STILE_WEBHOOK_SECRET,
});

/** Answers 401 without a session; else `request.session` has `userId`, `sessionId`, `expiresAt` and `claims`. */
async function requireSession(request, response, next) {
  const verified = await stile.verifySession(request);
  if (!verified.ok) return response.status(401).json({ error: verified.reason });
  request.session = verified.session;
  next();
}

const app = express();

app.get("/api/me", requireSession, (request, response) => {
  response.json({ userId: request.session.userId });
});

// The body stays bytes: the signature is over them, not over parsed JSON.
app.post("/webhooks/stile", express.raw({ type: "application/json" }), async (request, response) => {
  const verified = await stile.verifyWebhook(request);
  if (!verified.ok) return response.status(400).send(verified.reason);
  const { id, name, data } = verified.event;
  console.log(JSON.stringify({ id, name, user: data.id }));
  response.status(204).end();
});

// Without Stile nothing is known of a token: 503, so that sessions survive and deliveries are repeated.
app.use((error, _request, response, next) => {
  if (!(error instanceof StileError)) return next(error);
  response.status(503).json({ error: "unavailable" });
});

app.listen(process.env.PORT, "127.0.0.1");
