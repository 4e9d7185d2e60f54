/** What a server came to in the rounds of one task at one number of connections. */
export interface Figures {
  /** Median over the rounds. */
  perSecond: number;
  /** Milliseconds, over all rounds. */
  p50: number;
  p99: number;
  /** Milliseconds of processor time a task: of the server with its worker processes, and of PostgreSQL. */
  cpu: number;
  postgresCpu: number;
  /** How often a task was told to wait, because the server was overloaded. */
  waits: number;
  /** Share of one processor that the load generator took. */
  generator: number;
}

/** What a server came to in one round: finished tasks, and the milliseconds from the first request to the last answer. */
export interface Round {
  done: number;
  elapsedMs: number;
  /** Milliseconds of each task. */
  latencies: readonly number[];
  /** Milliseconds until each answer that told to wait. */
  refusals: readonly number[];
  cpuMs: number;
  postgresCpuMs: number;
  /** Processor time of the load generator. */
  generatorCpuMs: number;
}

/** Summarises the rounds of one server. */
export function figuresOf(rounds: readonly Round[]): Figures {
  const sum = (of: (round: Round) => number) => rounds.reduce((all, round) => all + of(round), 0);
  const done = sum((round) => round.done);
  const latencies = rounds.flatMap((round) => round.latencies);
  return {
    perSecond: percentile(
      rounds.map((round) => (round.done / round.elapsedMs) * 1000),
      0.5,
    ),
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    cpu: sum((round) => round.cpuMs) / done,
    postgresCpu: sum((round) => round.postgresCpuMs) / done,
    waits: sum((round) => round.refusals.length) / done,
    generator: sum((round) => round.generatorCpuMs) / sum((round) => round.elapsedMs),
  };
}

/** The value below which a share of the values lies, from 0 to 1; not a number if there are none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
