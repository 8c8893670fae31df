import type { RecipeMutant } from '../support/mutants.js'

const unconfirmed = [
  {
    file: 'lease-manager/job-run.ts',
    find: "if (await lease.update(mark)) return 'done'",
    replace: "void lease.update(mark)\n    if (mark) return 'done'",
  },
]

export const mutants: readonly RecipeMutant[] = [
  {
    name: 'the name of a job becomes free before its mark is confirmed',
    edits: unconfirmed,
    caughtBy: { law: 'the name of a job is not free before its mark is confirmed' },
  },
  {
    name: 'the name of a job becomes free before its mark is confirmed, in the simulator',
    edits: unconfirmed,
    caughtBy: { check: ['broken-rule'] },
  },
  {
    name: 'a holder does not look at the mark before its work',
    edits: [
      { file: 'lease-manager/job-run.ts', find: 'this.#isDone(lease, previous)', replace: 'false' },
      { file: 'lease-manager/job-run.ts', find: 'return this.#found(key, previous)', replace: "return 'done'" },
    ],
    caughtBy: { check: ['broken-rule'] },
  },
  {
    name: 'marks of other runs count',
    edits: [
      { file: 'lease-manager/job-run.ts', find: ' && metadata.doneIn === this.#options.mark.doneIn', replace: '' },
    ],
    caughtBy: { law: 'a list that is done is not done again, unless in another run' },
  },
  {
    name: 'a job that another process holds counts as done',
    edits: [
      {
        file: 'lease-manager/job-run.ts',
        find: "if (stop.aborted || error instanceof LeaseHeldError || error instanceof LeaseLostError) return 'again'",
        replace: "if (error instanceof LeaseHeldError) return 'done-elsewhere'\n      if (stop.aborted) return 'again'",
      },
    ],
    caughtBy: { law: 'the job of a process that died is done again, under a larger token' },
  },
  {
    name: 'a worker that fails is marked as done',
    edits: [{ file: 'lease-manager/job-run.ts', find: "      return 'failed'\n", replace: '' }],
    caughtBy: { law: 'a worker that fails does not stop the others, and leaves its job to others' },
  },
  {
    name: 'claims of one manager share a name',
    edits: [
      {
        file: 'lease-manager/lease-manager.ts',
        find: 'if (this.#leases.get(name) !== undefined) continue',
        replace: '',
      },
    ],
    caughtBy: { law: 'claimFirst gets one free name, and each call another one' },
  },
  {
    name: 'waiters take the places of others',
    edits: [
      {
        file: 'lease-manager/lease-manager.ts',
        find: 'lease.acquire(once)',
        replace: 'lease.acquire(options)',
      },
    ],
    caughtBy: { law: 'waiters do not keep other names from being asked for' },
  },
  {
    name: 'stop waits for the store without a deadline',
    edits: [
      {
        file: 'recipe.ts',
        find: 'await endsWithin(this.clock, timeout, Promise.all(closing))',
        replace: 'await Promise.all(closing)',
      },
    ],
    caughtBy: { law: 'stop settles within its deadline when the store does not answer' },
  },
]
