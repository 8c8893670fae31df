import type { Mutant } from './mutant.js'

const lease = 'store-lease/store-lease.ts'
const runs = 'lease/lease-runs.ts'

/** Each rule of `run`, broken. */
export const runMutants: readonly Mutant[] = [
  {
    name: 'runs of one lease do not take turns',
    edits: [
      {
        file: runs,
        find: 'if (!this.#queue.tryEnter() && !(await this.#queue.enter(options))) {',
        replace: 'if (!this.#queue.tryEnter() && false) {',
      },
    ],
    caughtBy: { check: ['overlapping-works'] },
  },
  {
    name: 'runs of one lease take turns last come, first served',
    edits: [
      {
        file: 'lease/run-queue.ts',
        find: 'const next = this.#waiting.takeFirst()',
        replace: 'const next = this.#waiting.all.at(-1)\n    if (next !== undefined) this.#waiting.giveUp(next)',
      },
    ],
    caughtBy: { check: ['run-overtaken'] },
  },
  {
    name: 'a run inside its own work waits for itself',
    edits: [
      {
        file: runs,
        find: 'if (workContext.includes(lease)) {',
        replace: 'if (false) {',
      },
    ],
    caughtBy: { check: ['stuck-workload', 'no-progress', 'needless-refusal'] },
  },
  {
    name: 'a run that ended keeps its turn',
    edits: [{ file: runs, find: 'await this.#end(run)\n      this.#queue.leave()', replace: 'await this.#end(run)' }],
    caughtBy: { check: ['needless-refusal'] },
  },
  {
    name: 'a run frees the grant of an acquire that it worked under',
    edits: [
      {
        file: runs,
        find: 'if (this.#host.isKept() || !run.isUnder(this.#host.currentGrant())) return',
        replace: 'if (!run.isUnder(this.#host.currentGrant())) return',
      },
    ],
    caughtBy: { check: ['unasked-release'] },
  },
  {
    name: 'a run frees any grant that is held when it ends',
    edits: [
      {
        file: runs,
        find: 'if (this.#host.isKept() || !run.isUnder(this.#host.currentGrant())) return',
        replace: 'if (this.#host.currentGrant() === undefined) return',
      },
    ],
    caughtBy: { check: ['unasked-release'] },
  },
  {
    name: 'a run does not free its grant',
    edits: [
      {
        file: runs,
        find: 'if (this.#host.isKept() || !run.isUnder(this.#host.currentGrant())) return',
        replace: 'return',
      },
    ],
    caughtBy: { check: ['unfreed-run'] },
  },
  {
    name: 'a run does not free its grant, because an acquire once asked for an earlier one',
    edits: [{ file: 'store-lease/grant-users.ts', find: '    this.#isKept = false\n', replace: '' }],
    caughtBy: { check: ['unfreed-run'] },
  },
  {
    name: 'a release during a run does not abort its signal',
    edits: [{ file: lease, find: 'this.#runs?.onReleased()\n    if (', replace: 'if (' }],
    caughtBy: { check: ['run-not-aborted'] },
  },
  {
    name: 'a loss does not abort the signal of a run',
    edits: [{ file: 'store-lease/grant-users.ts', find: 'run?.end(error)\n', replace: '\n' }],
    caughtBy: { check: ['run-not-aborted', 'wrong-reason', 'unasked-release'] },
  },
  {
    name: 'a run waits for work that ignores its signal',
    edits: [{ file: 'lease/lease-run.ts', find: 'this.#ended.reject(error)\n', replace: '\n' }],
    caughtBy: { check: ['run-not-aborted'] },
  },
  {
    name: 'a run whose grant ended before its work resolves',
    edits: [
      {
        file: 'lease/lease-run.ts',
        find: 'return await Promise.race([this.#ended.promise, done])',
        replace: 'return await done',
      },
    ],
    caughtBy: { check: ['run-not-aborted'] },
  },
  {
    name: 'a release during a run is reported as a loss',
    edits: [
      {
        file: runs,
        find: "reason: 'released'",
        replace: "reason: 'expired'",
      },
    ],
    caughtBy: { check: ['wrong-reason', 'needless-loss'] },
  },
]
