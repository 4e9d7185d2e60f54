/** What a test asked for is impossible. Its message reaches the test. */
export class WishError extends Error {}
