/**
 * Steps that an evaluation may take. What a tenant configures is evaluated for requests without credentials, so its cost
 * is limited whatever the configuration says.
 */
export class StepBudget {
  readonly limit: number;
  /** Steps taken so far, refused ones included. */
  spent = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** Whether an evaluation has to stop. */
  get isUsedUp(): boolean {
    return this.spent > this.limit;
  }

  /** Takes steps. Returns false if the evaluation has to stop. */
  take(steps = 1): boolean {
    this.spent += steps;
    return !this.isUsedUp;
  }
}
