// Next: app/api/me/route.js and app/webhooks/stile/route.js
import { createStile } from "@stile-auth/stile/server";

const stile = createStile({
  baseUrl: process.env.STILE_URL,
  webhookSecret: process.env.STILE_WEBHOOK_SECRET,
});

/** GET /api/me */
export async function GET(request) {
  const verified = await stile.verifySession(request);
  if (!verified.ok) return Response.json({ error: verified.reason }, { status: 401 });
  return Response.json({ userId: verified.session.userId });
}

/** POST /webhooks/stile */
export async function POST(request) {
  const verified = await stile.verifyWebhook(request);
  if (!verified.ok) return new Response(verified.reason, { status: 400 });
  const { id, name, data } = verified.event;
  console.log(JSON.stringify({ id, name, user: data.id }));
  return new Response(null, { status: 204 });
}
