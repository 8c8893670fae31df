import assert from 'node:assert/strict'
import type { Lock, LockInfo, LockManager, LockMode, LockOptions } from '@leasehold/recipes'
import { type RecipePlace, type RecipeTrial, recipeLawsWith } from './recipe-trial.js'

/** A lock manager as its laws see it. */
export type LockManagerUnderLaw = Pick<LockManager, 'clientId' | 'request' | 'query' | 'stop'>

/** The options of a lock manager that the laws set. */
export interface LockManagerLawOptions {
  readonly readers?: number
}

type Trial = RecipeTrial<LockManagerUnderLaw, LockManagerLawOptions>

/** A lock that the laws use, with the form of the name of a slot of another. */
const NAME = 'order/4'

/** A request whose callback goes on until it is told to end. */
class Requested {
  lock: Lock | undefined
  error: unknown
  value: unknown
  isSettled = false
  readonly result: Promise<void>
  end: (outcome?: unknown) => void = () => {}

  constructor(locks: LockManagerUnderLaw, options: LockOptions = {}, name = NAME) {
    const ended = new Promise<unknown>((resolve) => {
      this.end = resolve
    })
    const requested = locks.request(name, options, async (lock) => {
      this.lock = lock ?? undefined
      return lock === null ? null : await ended
    })
    this.result = requested
      .then(
        (value) => {
          this.value = value
        },
        (error: unknown) => {
          this.error = error
        },
      )
      .finally(() => {
        this.isSettled = true
      })
  }

  get isValid(): boolean {
    return this.lock?.checkLease() === true
  }
}

async function open(
  trial: Trial,
  place?: RecipePlace,
  options: LockManagerLawOptions = {},
): Promise<LockManagerUnderLaw> {
  const locks = await trial.create(options, place)
  trial.atEnd(() => locks.stop({ timeout: 0 }))
  return locks
}

function request(trial: Trial, locks: LockManagerUnderLaw, options?: LockOptions, name?: string): Requested {
  const requested = new Requested(locks, options, name)
  // Runs before the manager is stopped.
  trial.atEnd(() => requested.end())
  return requested
}

async function granted(trial: Trial, locks: LockManagerUnderLaw, options?: LockOptions, name?: string) {
  const requested = request(trial, locks, options, name)
  await trial.until('the lock is granted', () => requested.isValid)
  return requested
}

const end = (trial: Trial, requested: Requested): Promise<void> => {
  requested.end('done')
  return trial.during(requested.result)
}

function assertStolen({ error, lock }: Requested): void {
  assert(error instanceof DOMException)
  assert.equal(error.name, 'AbortError')
  assert.equal(lock?.signal.reason, error)
  assert.equal(lock?.checkLease(), false)
}

const inOrder = (infos: readonly LockInfo[]): readonly string[] =>
  infos.map(({ name, mode, clientId }) => `${clientId} ${name} ${mode}`).sort()

/** The laws get two managers of one name, each in a place of its own, and the place of the first one. */
const lawsOf = recipeLawsWith(async (trial: Trial) => {
  const place = await trial.place()
  return [await open(trial, place), await open(trial), place]
})

const modes: readonly LockMode[] = ['exclusive', 'shared']

/** The laws of lock managers. */
export const lockManagerLaws = [
  ...lawsOf(['metadata'], {
    'an exclusive lock is alone, and the next one is granted when it ends, under a larger token': async (
      trial,
      one,
      other,
    ) => {
      const first = await granted(trial, one)
      const waiting = modes.flatMap((mode) => [request(trial, one, { mode }), request(trial, other, { mode })])
      await trial.pass(2 * trial.ttl)
      assert(first.isValid)
      assert(waiting.every(({ lock }) => lock === undefined))
      await end(trial, first)
      assert.equal(first.value, 'done')
      let token = first.lock?.fencingToken ?? 0n
      for (let left = waiting; left.length > 0; ) {
        await trial.until('another lock is granted', () => left.some(({ isValid }) => isValid))
        const valid = left.filter(({ isValid }) => isValid)
        assert(valid.length === 1 || valid.every(({ lock }) => lock?.mode === 'shared'))
        for (const { lock } of valid) assert(lock !== undefined && lock.fencingToken > token)
        token = valid[0]?.lock?.fencingToken ?? 0n
        for (const requested of valid) await end(trial, requested)
        left = left.filter(({ isSettled }) => !isSettled)
      }
    },

    'shared locks are held together, and an exclusive one waits until all have ended': async (trial, one, other) => {
      const readers = [
        await granted(trial, one, { mode: 'shared' }),
        await granted(trial, one, { mode: 'shared' }),
        await granted(trial, other, { mode: 'shared' }),
      ]
      const writer = request(trial, other)
      for (const reader of readers) {
        await trial.pass(trial.ttl / 2)
        assert.deepEqual([reader.isValid, writer.lock], [true, undefined])
        await end(trial, reader)
      }
      await trial.until('the exclusive lock is granted', () => writer.isValid)
    },

    'a shared request waits behind an exclusive one of another process': async (trial, one, other) => {
      const reader = await granted(trial, one, { mode: 'shared' })
      const writer = request(trial, other)
      await trial.pass(trial.ttl / 2)
      const late = request(trial, one, { mode: 'shared' })
      await trial.pass(trial.ttl / 2)
      assert.deepEqual([writer.lock, late.lock], [undefined, undefined])
      await end(trial, reader)
      await trial.until('the exclusive lock is granted', () => writer.isValid)
      assert.equal(late.lock, undefined)
      await end(trial, writer)
      await trial.until('the shared lock is granted', () => late.isValid)
    },

    'ifAvailable calls the callback with null if the lock is held, and with the lock if it is free': async (
      trial,
      one,
      other,
    ) => {
      const first = await granted(trial, one)
      for (const locks of [one, other]) {
        for (const mode of modes) {
          const refused = request(trial, locks, { mode, ifAvailable: true })
          await trial.during(refused.result)
          assert.equal(refused.value, null)
        }
      }
      await end(trial, first)
      await granted(trial, other, { ifAvailable: true })
    },

    'a request that is aborted leaves the queue': async (trial, one, other) => {
      const first = await granted(trial, one)
      const controller = new AbortController()
      const waiting = request(trial, other, { signal: controller.signal })
      await trial.pass(trial.ttl / 2)
      const reason = new Error('no time')
      controller.abort(reason)
      await trial.during(waiting.result)
      assert.equal(waiting.error, reason)
      await end(trial, first)
      await granted(trial, one)
      assert.equal(waiting.lock, undefined)
    },

    'names do not exclude each other, also if one looks like a part of another': async (trial, one, other) => {
      const names = ['order', 'order/0', 'order/1', 'order/0/1', 'order%2F0', '0', '']
      const held: Requested[] = []
      for (const name of names) {
        held.push(await granted(trial, one, { mode: 'shared' }, name))
        await granted(trial, other, { mode: 'shared' }, name)
      }
      for (const requested of held) assert(requested.isValid)
    },

    'a lock whose lease is lost ends with a LeaseLostError, although its callback goes on': async (
      trial,
      one,
      other,
      place,
    ) => {
      for (const mode of modes) {
        const first = await granted(trial, one, { mode })
        place.cutOff()
        const next = request(trial, other)
        await trial.during(first.result)
        assert(first.error instanceof Error)
        assert.equal(first.error.name, 'LeaseLostError')
        assert.equal(first.lock?.signal.reason, first.error)
        assert.equal(first.isValid, false)
        await trial.until('the next lock is granted', () => next.isValid)
        assert((next.lock?.fencingToken ?? 0n) > (first.lock?.fencingToken ?? 0n))
        place.heal()
        await end(trial, next)
      }
    },

    'stop aborts the signals and the requests that wait, and frees the names when the callbacks have ended': async (
      trial,
      one,
      other,
    ) => {
      const held = await granted(trial, one)
      const waiting = request(trial, one)
      const next = request(trial, other)
      let isStopped = false
      const stopped = one.stop({ timeout: Number.POSITIVE_INFINITY }).then(() => {
        isStopped = true
      })
      assert.equal(held.lock?.signal.aborted, true)
      await trial.during(waiting.result)
      assert.equal((waiting.error as Error).name, 'LeaseUnavailableError')
      await trial.pass(2 * trial.ttl)
      assert.deepEqual([isStopped, next.lock], [false, undefined])
      held.end('ended')
      await trial.during(stopped)
      await trial.during(held.result)
      assert.equal(held.value, 'ended')
      await trial.until('the next lock is granted', () => next.isValid)
    },
  }),

  ...lawsOf(['metadata', 'break', 'change'], {
    'steal takes the lock from its holders, whose promises reject with an AbortError, under a larger token': async (
      trial,
      one,
      other,
    ) => {
      for (const mode of modes) {
        const holders = [await granted(trial, other, { mode })]
        if (mode === 'shared') holders.push(await granted(trial, one, { mode }))
        const thief = await granted(trial, one, { steal: true })
        for (const holder of holders) {
          await trial.during(holder.result)
          assertStolen(holder)
          assert((thief.lock?.fencingToken ?? 0n) > (holder.lock?.fencingToken ?? 0n))
          holder.end('late')
        }
        await trial.pass(trial.ttl / 2)
        assert(thief.isValid)
        await end(trial, thief)
        assert.equal(thief.value, 'done')
      }
    },

    'steal is before all that wait, which are not granted in between': async (trial, one, other) => {
      const first = await granted(trial, other)
      const waiting = [request(trial, one), request(trial, await open(trial)), request(trial, other)]
      await trial.pass(trial.ttl / 2)
      const thief = await granted(trial, one, { steal: true })
      await trial.during(first.result)
      await trial.pass(trial.ttl)
      assert(thief.isValid)
      assert(waiting.every(({ lock }) => lock === undefined))
      await end(trial, thief)
      for (const requested of waiting) requested.end('waited')
      for (const requested of waiting) {
        await trial.during(requested.result)
        assert.equal(requested.value, 'waited')
      }
    },

    'a process that enters while the lock is stolen does not hold it beside the thief': async (
      trial,
      one,
      other,
      place,
    ) => {
      const { store } = place
      const acquire = store.acquire.bind(store)
      let letIn = (_?: unknown): void => {}
      const isLetIn = new Promise((resolve) => {
        letIn = resolve
      })
      const late: typeof acquire = async (asked, call) => {
        if (/\/\d+$/.test(asked.name)) await isLetIn
        return await acquire(asked, call)
      }
      Object.assign(store, { acquire: late })
      const reader = request(trial, one, { mode: 'shared' })
      await trial.until('the process asks for its slot', () => place.calls.includes('update'))
      const thief = request(trial, other, { steal: true })
      // Shorter than the time limit of the request.
      await trial.pass(trial.ttl / 40)
      letIn()
      await trial.until('the lock is stolen', () => thief.isValid)
      await trial.pass(trial.ttl + trial.longest)
      assert.deepEqual([thief.isValid, reader.isValid], [true, false])
    },

    'no lock is granted beside one that was stolen': async (trial, one, other) => {
      await granted(trial, one, { mode: 'shared' })
      const writer = request(trial, other)
      await trial.pass(trial.ttl / 2)
      const thief = await granted(trial, await open(trial), { steal: true })
      await trial.pass(2 * trial.ttl)
      assert(thief.isValid)
      assert.equal(writer.isValid, false)
    },
  }),

  ...lawsOf(['metadata', 'list'], {
    'query has the locks that are held, by all machines': async (trial, one, other) => {
      assert.deepEqual(await trial.during(one.query()), { held: [], pending: [] })
      await granted(trial, one)
      await granted(trial, other, { mode: 'shared' }, 'prices')
      const waiting = request(trial, other)
      await trial.pass(trial.ttl / 2)
      const held = [`${one.clientId} ${NAME} exclusive`, `${other.clientId} prices shared`].sort()
      const pending = [{ name: NAME, mode: 'exclusive', clientId: other.clientId }]
      for (const locks of [one, other]) assert.deepEqual(inOrder((await trial.during(locks.query())).held), held)
      assert.deepEqual((await trial.during(other.query())).pending, pending)
      assert.equal(waiting.lock, undefined)
    },

    'query has a request that waits for the end of shared locks, of all machines': async (trial, one, other) => {
      await granted(trial, one, { mode: 'shared' })
      request(trial, other)
      await trial.pass(trial.ttl / 2)
      const pending = [{ name: NAME, mode: 'exclusive', clientId: other.clientId }]
      for (const locks of [one, other]) assert.deepEqual((await trial.during(locks.query())).pending, pending)
    },
  }),
]
