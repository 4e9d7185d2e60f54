import { cleanup, configure } from "@testing-library/react";
import { afterEach } from "vitest";

/** Set-up of every test that draws: removes what it drew, and lets `waitFor` and `find…` wait as long as a test may. */
configure({ asyncUtilTimeout: 60_000 });

afterEach(cleanup);
