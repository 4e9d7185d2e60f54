// Next: app/api/me/route.js and app/webhooks/stile/route.js
import { createStile, StileError } from "@stile-auth/server";

const stile = createStile({
  baseUrl: process.env.STILE_URL,
  webhookSecret: process.env.STILE_WEBHOOK_SECRET,
});

/** Without Stile nothing is known of a token: 503, so that sessions survive and deliveries are repeated. */
const whileAvailable = (handler) => async (request) => {
  try {
    return await handler(request);
  } catch (error) {
    if (!(error instanceof StileError)) throw error;
    return Response.json({ error: "unavailable" }, { status: 503 });
  }
};

/** GET /api/me */
export const GET = whileAvailable(async (request) => {
  const verified = await stile.verifySession(request);
  if (!verified.ok) return Response.json({ error: verified.reason }, { status: 401 });
  return Response.json({ userId: verified.session.userId });
});

/** POST /webhooks/stile */
export const POST = whileAvailable(async (request) => {
  const verified = await stile.verifyWebhook(request);
  if (!verified.ok) return new Response(verified.reason, { status: 400 });
  const { id, name, data } = verified.event;
  console.log(JSON.stringify({ id, name, user: data.id }));
  return new Response(null, { status: 204 });
});
