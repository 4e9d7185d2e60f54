const answer = () => Response.json({ name: "preflight" });

/** The least that a route handler of Next can do. */
export { answer as GET, answer as POST };

export const dynamic = "force-dynamic";
