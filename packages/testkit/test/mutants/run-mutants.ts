import type { Mutant } from './mutant.js'

const lease = 'store-lease.ts'

/** Each rule of `run`, broken. */
export const runMutants: readonly Mutant[] = [
  {
    name: 'runs of one lease do not take turns',
    edits: [
      {
        file: lease,
        find: 'if (!this.#runs.tryEnter() && !(await this.#runs.enter(wait, signal))) throw overlappingRun(this.#details)',
        replace: 'this.#runs.tryEnter()',
      },
    ],
    caughtBy: { check: ['overlapping-works'] },
  },
  {
    name: 'runs of one lease take turns last come, first served',
    edits: [
      {
        file: 'run/run-queue.ts',
        find: 'const next = this.#waiting.values().next().value',
        replace: 'const next = [...this.#waiting].at(-1)',
      },
    ],
    caughtBy: { check: ['run-overtaken'] },
  },
  {
    name: 'a run inside its own work waits for itself',
    edits: [
      {
        file: lease,
        find: 'if (workContext.includes(this)) throw nestedRun(this.#details)\n',
        replace: '\n',
      },
    ],
    caughtBy: { check: ['stuck-workload', 'no-progress', 'needless-refusal'] },
  },
  {
    name: 'a run that ended keeps its turn',
    edits: [
      { file: lease, find: 'await this.#endRun(run)\n      this.#runs.leave()', replace: 'await this.#endRun(run)' },
    ],
    caughtBy: { check: ['needless-refusal'] },
  },
  {
    name: 'a run frees the grant of an acquire that it worked under',
    edits: [
      {
        file: lease,
        find: 'if (this.#isKept || !run.isUnder(this.grant)) return',
        replace: 'if (!run.isUnder(this.grant)) return',
      },
    ],
    caughtBy: { check: ['unasked-release'] },
  },
  {
    name: 'a run frees whatever is held when it ends',
    edits: [
      {
        file: lease,
        find: 'if (this.#isKept || !run.isUnder(this.grant)) return',
        replace: 'if (this.grant === undefined) return',
      },
    ],
    caughtBy: { check: ['unasked-release'] },
  },
  {
    name: 'a run does not free its grant',
    edits: [
      {
        file: lease,
        find: 'if (this.#isKept || !run.isUnder(this.grant)) return',
        replace: 'return',
      },
    ],
    caughtBy: { check: ['unfreed-run'] },
  },
  {
    name: 'a run does not free its grant, because an acquire once asked for an earlier one',
    edits: [{ file: lease, find: '    this.#isKept = false\n    for', replace: '    for' }],
    caughtBy: { check: ['unfreed-run'] },
  },
  {
    name: 'a release during a run does not abort its signal',
    edits: [{ file: lease, find: 'this.#run?.end(releasedDuringRun(this.#details))\n    const {', replace: 'const {' }],
    caughtBy: { check: ['run-not-told'] },
  },
  {
    name: 'a loss does not abort the signal of a run',
    edits: [{ file: lease, find: 'run?.end(error)\n', replace: '\n' }],
    caughtBy: { check: ['run-not-told', 'wrong-reason'] },
  },
  {
    name: 'a run waits for work that ignores its signal',
    edits: [{ file: 'run/lease-run.ts', find: 'this.#reject(error)\n', replace: '\n' }],
    caughtBy: { check: ['run-not-told'] },
  },
  {
    name: 'a run whose grant ended before its work resolves',
    edits: [
      {
        file: 'run/lease-run.ts',
        find: 'return await Promise.race([this.#ended, startWork(() => work(held))])',
        replace: 'return await startWork(() => work(held))',
      },
    ],
    caughtBy: { check: ['run-not-told'] },
  },
  {
    name: 'a release during a run is reported as a loss',
    edits: [
      {
        file: 'run/run-errors.ts',
        find: "reason: 'released'",
        replace: "reason: 'expired'",
      },
    ],
    caughtBy: { check: ['wrong-reason', 'needless-loss'] },
  },
]
