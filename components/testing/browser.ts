import { cleanup, configure } from "@testing-library/react";
import { afterEach } from "vitest";

/** Set-up of tests that render components: removes them after each test, and raises the timeout of `waitFor`. */
configure({ asyncUtilTimeout: 60_000 });

afterEach(cleanup);
