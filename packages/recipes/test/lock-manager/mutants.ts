import type { RecipeMutant } from '../support/mutants.js'

const manager = 'lock-manager/lock-manager.ts'
const queue = 'lock-manager/lock-queue.ts'
const hold = 'lock-manager/lock-hold.ts'
const search = 'slots/slot-search.ts'
const stealing = 'lock-manager/stealing-lease.ts'
const names = 'lock-manager/lock-name.ts'
const records = 'lock-manager/lock-records.ts'

/** Deliberate bugs of lock managers, and the law or check that catches each. */
export const mutants: readonly RecipeMutant[] = [
  {
    name: 'an exclusive lock is a shared one for other processes',
    edits: [
      {
        file: queue,
        find: "return mode === 'exclusive' ? new ExclusiveLease(this.#turnstile) : new EnteredLease(this.#turnstile)",
        replace: 'return new EnteredLease(mode === "shared" ? this.#turnstile : this.#turnstile)',
      },
    ],
    caughtBy: { check: ['broken-rule'] },
  },
  {
    name: 'a shared lock is held beside an exclusive one of the same process',
    edits: [
      {
        file: queue,
        find: "return mode === 'shared' && this.#hold.mode === 'shared' && !this.#hold.isClosed",
        replace: "return mode === 'shared'",
      },
    ],
    caughtBy: { check: ['broken-rule'] },
  },
  {
    name: 'the lease of shared locks is released with the first of them',
    edits: [
      { file: queue, find: 'if (hold.locks.size === 0) await this.#end(hold)', replace: 'await this.#end(hold)' },
    ],
    caughtBy: { law: 'shared locks are held together, and an exclusive one waits until all have ended' },
  },
  {
    name: 'a shared request overtakes an exclusive one of another process',
    edits: [{ file: queue, find: 'if (!isWaitedFor) return', replace: 'if (!isWaitedFor || true) return' }],
    caughtBy: { law: 'a shared request waits behind an exclusive one of another process' },
  },
  {
    name: 'a request is resolved, and its lease is not released',
    edits: [{ file: queue, find: 'await hold.lease.release()', replace: 'await Promise.resolve()' }],
    caughtBy: {
      law: 'an exclusive lock is alone, and the next one is granted when it ends, under a larger token',
    },
  },
  {
    name: 'the end of the callback of a lock that was stolen here releases the lock of the thief',
    edits: [
      {
        file: queue,
        find: 'if (!hold.locks.delete(held)) return',
        replace: 'if (!hold.locks.delete(held)) return await (this.#hold ?? hold).lease.release().then(() => {})',
      },
    ],
    caughtBy: {
      law: 'steal takes the lock from its holders, whose promises reject with an AbortError, under a larger token',
    },
  },
  {
    name: 'the holders of a lock are not notified of a theft',
    edits: [{ file: hold, find: 'for (const lock of locks) lock.end(error)', replace: 'locks.splice(0)' }],
    caughtBy: {
      law: 'steal takes the lock from its holders, whose promises reject with an AbortError, under a larger token',
    },
  },
  {
    name: 'the signal of a lock that is lost is not aborted',
    edits: [
      { file: hold, find: 'this.request.reject(error)\n    this.abort(error)', replace: 'this.request.reject(error)' },
    ],
    caughtBy: { check: ['broken-rule'] },
  },
  {
    name: 'a thief breaks the name, and waits for its turn',
    edits: [
      {
        file: stealing,
        find: "if (record?.state === 'leased' && (await held.adopt(this.#handOffOf(record), { signal }))) return true",
        replace:
          'if (record !== undefined) await breakLease(turnstile.store, turnstile.name, { period: 0, signal, clock: turnstile.clock })',
      },
    ],
    caughtBy: { law: 'steal is before all that wait, which are not granted in between' },
  },
  {
    name: 'a thief does not break shared locks',
    edits: [
      {
        file: stealing,
        find: 'await this.#breakSlots(slots.length, request.signal)\n',
        replace: '\n',
      },
    ],
    caughtBy: {
      law: 'steal takes the lock from its holders, whose promises reject with an AbortError, under a larger token',
    },
  },
  {
    name: 'a reader does not look whether it still had the turnstile when it left it',
    edits: [{ file: search, find: '!(await leaving)', replace: '((await leaving), false)' }],
    caughtBy: { law: 'a process that enters while the lock is stolen does not hold it beside the thief' },
  },
  {
    name: 'a loss is reported as a theft',
    edits: [{ file: queue, find: "new Set(['broken', 'taken'])", replace: "new Set(['broken', 'taken', 'expired'])" }],
    caughtBy: { law: 'a lock whose lease is lost ends with a LeaseLostError, although its callback goes on' },
  },
  {
    name: 'the lease of a lock has the name of a slot of another',
    edits: [{ file: names, find: ".replace(/\\/(?=\\d+$)/, '%2F')", replace: '' }],
    caughtBy: { law: 'query has the locks that are held, by all machines' },
  },
  {
    name: 'stop does not wait for the callbacks',
    edits: [
      {
        file: manager,
        find: 'await endsWithin(this.clock, timeout, Promise.all(queues.map(({ idle }) => idle)))',
        replace: '(timeout >= 0 && endsWithin !== undefined)',
      },
    ],
    caughtBy: {
      law: 'stop aborts the signals and the requests that wait, and frees the names when the callbacks have ended',
    },
  },
  {
    name: 'query shows the locks of this process only',
    edits: [{ file: records, find: "!== 'read-write-lease') continue", replace: "!== 'none') continue" }],
    caughtBy: { law: 'query has the locks that are held, by all machines' },
  },
]
