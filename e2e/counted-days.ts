import { withClient } from "../server/testing/postgres-cluster.ts";

/** The hour of the last day, counted back from the present one, in which most sign-ins failed. */
const ODD_HOURS_AGO = 5;

/**
 * Writes counts of nine days of a tenant: as many users in each hour, who all enter a password. Some give up there, and in
 * one hour many fail.
 */
export async function countDays(database: string, tenant: string): Promise<void> {
  await withClient(database, (client) =>
    client.query(
      `insert into funnel_counts (tenant_id, measure, flow_type, state, hour, name, target, method, platform, browser,
         embedding, count, durations)
       select $1, one.measure, 'login', one.state, date_trunc('hour', now()) - ago * interval '1 hour', one.name, one.target,
         one.method, one.platform, 'Firefox', 'page',
         case when one.measure in ('failed', 'signed_in') and ago = $2 then one.in_odd_hour else one.count end,
         case when one.durations then array_fill(0, array[12]) || one.count || array_fill(0, array[15]) end
       from generate_series(1, 216) as ago, (values
         ('entered', 'login_init', 'none', 'none', 'none', 'Linux', 100, 100, false),
         ('left', 'login_init', 'continue_with_login_identifier', 'login_password', 'none', 'Linux', 95, 95, true),
         ('entered', 'login_password', 'none', 'none', 'password', 'Linux', 95, 95, false),
         ('left', 'login_password', 'password_login', 'success', 'password', 'Linux', 60, 60, true),
         ('failed', 'login_password', 'invalid_password', 'wrong_password', 'password', 'Linux', 8, 80, false),
         ('entered', 'success', 'none', 'none', 'none', 'Linux', 60, 60, false),
         ('signed_in', 'success', 'totp', 'none', 'password', 'Linux', 60, 12, true)
       ) as one (measure, state, name, target, method, platform, count, in_odd_hour, durations)`,
      [tenant, ODD_HOURS_AGO],
    ),
  );
}
