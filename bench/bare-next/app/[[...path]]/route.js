/** The least that a route handler of Next can do. */
export const POST = () => Response.json({ name: "preflight" });
export const GET = POST;

export const dynamic = "force-dynamic";
