import { serve } from "@hono/node-server";
import { createStile, StileError } from "@stile-auth/server";
import { Hono } from "hono";

const stile = createStile({
  baseUrl: process.env.STILE_URL,
  webhookSecret: process.env.STILE_WEBHOOK_SECRET,
});

const app = new Hono();

app.get("/api/me", async (context) => {
  const verified = await stile.verifySession(context.req.raw);
  if (!verified.ok) return context.json({ error: verified.reason }, 401);
  return context.json({ userId: verified.session.userId });
});

app.post("/webhooks/stile", async (context) => {
  const verified = await stile.verifyWebhook(context.req.raw);
  if (!verified.ok) return context.text(verified.reason, 400);
  const { id, name, data } = verified.event;
  console.log(JSON.stringify({ id, name, user: data.id }));
  return context.body(null, 204);
});

// Without Stile nothing is known of a token: 503, so that sessions survive and deliveries are repeated.
app.onError((error, context) => {
  if (!(error instanceof StileError)) throw error;
  return context.json({ error: "unavailable" }, 503);
});

serve({ fetch: app.fetch, port: Number(process.env.PORT), hostname: "127.0.0.1" });
