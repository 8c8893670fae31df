import type { CheckName } from '@leasehold/simulator'
import type { Edit } from '@leasehold/testing/bundle-with-edits'

/** A deliberate bug, and the checks of the simulator that catch it: one of them is enough. */
export interface RegionMutant {
  readonly name: string
  readonly edits: readonly Edit[]
  readonly caughtBy: readonly CheckName[]
}

/** Deliberate bugs of a region that schedules with faults find. */
export const mutants: readonly RegionMutant[] = [
  {
    name: 'an entity works until the signal of its lease aborts',
    edits: [{ file: 'shard-host.ts', find: 'if (this.#held.checkLease()) return true', replace: 'return true' }],
    caughtBy: ['broken-rule'],
  },
  {
    name: 'a message is taken in another session than its own',
    edits: [
      {
        file: 'region-core.ts',
        find: "if (session !== host.session) return { outcome: 'moved', session: host.session }",
        replace: '',
      },
    ],
    caughtBy: ['broken-rule'],
  },
  {
    name: 'batches that come late or twice are taken',
    edits: [
      { file: 'region-core.ts', find: 'last !== undefined && batch.sequence === last.sequence', replace: 'false' },
      { file: 'region-core.ts', find: 'last !== undefined && batch.sequence < last.sequence', replace: 'false' },
    ],
    caughtBy: ['broken-rule'],
  },
  {
    name: 'the handled ids are not kept with the snapshot',
    edits: [{ file: 'entity-host.ts', find: 'handled: [...this.#handled] }', replace: 'handled: [] }' }],
    caughtBy: ['broken-rule'],
  },
  {
    name: 'an answer leaves before the save',
    edits: [
      {
        file: 'entity-host.ts',
        find: 'const answers = this.#answers.splice(0)',
        replace: 'this.#sendAnswers(); const answers = this.#answers.splice(0)',
      },
    ],
    caughtBy: ['broken-rule'],
  },
  {
    name: 'a save of which nothing is known counts as saved',
    edits: [{ file: 'entity-host.ts', find: 'else if (fault !== undefined) this.#session.fail(fault)', replace: '' }],
    caughtBy: ['broken-rule'],
  },
  {
    name: 'a save of which nothing is known is repeated in the same session',
    edits: [
      {
        file: 'entity-host.ts',
        find: 'else if (fault !== undefined) this.#session.fail(fault)',
        replace:
          'else if (fault !== undefined) { this.#saving = undefined; this.#answers.unshift(...answers); this.#isChanged = true; this.#goOn() }',
      },
    ],
    caughtBy: ['broken-rule'],
  },
  {
    name: 'what is sent again comes after later messages',
    edits: [
      {
        file: 'shard-queue.ts',
        find: 'this.#putFirst(again)',
        replace: 'this.#waiting.push(...again)',
      },
    ],
    caughtBy: ['broken-rule'],
  },
  {
    name: 'what a session has not confirmed is sent again after later messages',
    edits: [
      {
        file: 'shard-queue.ts',
        find: 'this.#putFirst(this.#unconfirmed)',
        replace: 'this.#waiting.push(...this.#unconfirmed)',
      },
    ],
    caughtBy: ['broken-rule'],
  },
  {
    name: 'a message at most once is sent again',
    edits: [
      {
        file: 'router.ts',
        find: 'if (!isUnknown || message.id !== undefined) again.push(message)',
        replace: 'if (message.question === undefined || message.id !== undefined) again.push(message)',
      },
    ],
    caughtBy: ['broken-rule'],
  },
  {
    name: 'a loaded entity forgets what it was',
    edits: [{ file: 'entity-host.ts', find: 'this.#start(saved)', replace: 'this.#start(undefined)' }],
    caughtBy: ['broken-rule'],
  },
  {
    name: 'a message that nobody takes is kept for ever',
    edits: [
      { file: 'shard-queue.ts', find: 'message.isSettled || message.giveUpAt <= now', replace: 'message.isSettled' },
      { file: 'router.ts', find: 'queue.repeatIfDue(now)', replace: '' },
    ],
    caughtBy: ['broken-rule'],
  },
]
