import assert from 'node:assert/strict'
import type { AcquireOptions, Lease } from '@leasehold/core'
import { endedBefore } from '../../../testkit/src/laws/succession.js'
import { type RecipePlace, type RecipeTrial, recipeLawsWith } from './recipe-trial.js'

/** A permit as the laws see it. */
export interface PermitUnderTest extends Lease {
  readonly slot: number | undefined
}

/** A semaphore as the laws see it. */
export interface SemaphoreUnderTest {
  readonly permits: number
  acquire(options?: AcquireOptions): Promise<PermitUnderTest | undefined>
  resize(permits: number): Promise<void>
  stop(): Promise<void>
}

/** The options of a semaphore that the laws set. */
export interface SemaphoreLawOptions {
  readonly permits: number
}

type Trial = RecipeTrial<SemaphoreUnderTest, SemaphoreLawOptions>

const forEver = Number.POSITIVE_INFINITY

/** The calls of one hand-over: those of the leaver, of the one who enters, and of the next one at the turnstile. */
const CALLS_OF_A_HAND_OVER = 8

async function semaphoreAt(trial: Trial, permits: number, place?: RecipePlace): Promise<SemaphoreUnderTest> {
  const semaphore = await trial.create({ permits }, place)
  trial.atEnd(() => semaphore.stop())
  return semaphore
}

/** A permit that is held. */
async function enter(trial: Trial, semaphore: SemaphoreUnderTest, options?: AcquireOptions): Promise<PermitUnderTest> {
  const permit = await trial.during(semaphore.acquire(options))
  assert(permit !== undefined, 'a permit was free, and was refused')
  assert(permit.checkLease())
  return permit
}

/** Lets so many wait for one permit, in this order; each has it for as long as `stay` takes. */
async function queueUp(trial: Trial, waiters: number, name = trial.name, stay?: (place: RecipePlace) => Promise<void>) {
  const places: RecipePlace[] = []
  const turns: Promise<void>[] = []
  const served: number[] = []
  for (let waiter = 0; waiter < waiters; waiter += 1) {
    const place = await trial.place({ name })
    const semaphore = await semaphoreAt(trial, 1, place)
    places.push(place)
    turns.push(
      semaphore.acquire({ wait: forEver }).then(async (permit) => {
        served.push(waiter)
        if (stay !== undefined) await stay(place)
        await permit?.release()
      }),
    )
    const hasItsPlace = (): boolean => place.calls.length > 0 && place.store.inProgress === 0
    await trial.until('the waiter has its place in the queue', hasItsPlace)
  }
  // The first waiter has looked at the slot, and waits for it.
  await trial.pass(trial.ttl / 20)
  return { places, turns: Promise.all(turns), served }
}

/** Calls per hand-over while so many wait. */
async function callsWhile(trial: Trial, waiters: number): Promise<number> {
  const name = `${trial.name}-${waiters}`
  const place = await trial.place({ name })
  const first = await enter(trial, await semaphoreAt(trial, 1, place))
  // The next one has to wait for the slot.
  const stay = ({ leaseOptions: { clock } }: RecipePlace): Promise<void> =>
    new Promise((end) => clock?.schedule(trial.ttl / 400, end))
  const { places, turns, served } = await queueUp(trial, waiters, name, stay)
  const sum = (): number => [place, ...places].reduce((total, { calls }) => total + calls.length, 0)
  const before = sum()
  await trial.during(Promise.all([first.release(), turns]))
  assert.equal(served.length, waiters)
  return (sum() - before) / waiters
}

const lawsOf = recipeLawsWith(async (_: Trial) => [])

/** The rules that every semaphore has to keep. */
export const semaphoreLaws = [
  ...lawsOf(['metadata'], {
    'at most as many permits are held as there are, and a release lets the next one in': async (trial) => {
      const permits: PermitUnderTest[] = []
      for (let count = 0; count < 3; count += 1) permits.push(await enter(trial, await semaphoreAt(trial, 3)))
      assert.deepEqual(permits.map(({ slot }) => slot).sort(), [0, 1, 2])
      const late = await semaphoreAt(trial, 3)
      assert.equal(await trial.during(late.acquire()), undefined)
      const waiting = late.acquire({ wait: forEver })
      await trial.pass(trial.ttl / 2)
      assert.equal(await trial.during(permits[1]?.release() ?? Promise.resolve(false)), true)
      const next = await trial.during(waiting)
      assert.equal(next?.slot, 1)
      const held = permits.map((permit) => permit.checkLease())
      assert.deepEqual(held, [true, false, true])
    },

    'one instance gets several permits at the same time': async (trial) => {
      const semaphore = await semaphoreAt(trial, 2)
      const [one, other] = await trial.during(
        Promise.all([semaphore.acquire({ wait: forEver }), semaphore.acquire({ wait: forEver })]),
      )
      assert.deepEqual([one?.slot, other?.slot].sort(), [0, 1])
      assert.equal(await trial.during(semaphore.acquire()), undefined)
    },

    'attempts without a wait that come at the same time get all free permits': async (trial) => {
      const semaphores = [await semaphoreAt(trial, 3), await semaphoreAt(trial, 3), await semaphoreAt(trial, 3)]
      const permits = await trial.during(Promise.all(semaphores.map((semaphore) => semaphore.acquire())))
      assert.equal(permits.filter((permit) => permit?.checkLease()).length, 3)
    },

    'a permit whose holder is cut off is given to the next, after its validity has ended': async (trial) => {
      const place = await trial.place()
      const lost: string[] = []
      const onLost = ({ reason }: { readonly reason: string }): unknown => lost.push(reason)
      const dying = await enter(trial, await semaphoreAt(trial, 2, place), { onLost })
      const other = await enter(trial, await semaphoreAt(trial, 2))
      const { signal } = dying
      place.cutOff()
      const waiting = endedBefore(dying, (await semaphoreAt(trial, 2)).acquire({ wait: forEver }))
      const heir = await trial.during(waiting, 5 * trial.ttl)
      assert.equal(dying.checkLease(), false)
      assert.equal(signal.aborted, true)
      assert.deepEqual(lost, ['expired'])
      assert.equal(other.checkLease(), true)
      assert((heir?.fencingToken ?? 0n) > (dying.fencingToken ?? 0n))
    },

    'fencing tokens are larger for every later permit': async (trial) => {
      const tokens: bigint[] = []
      const semaphores = [await semaphoreAt(trial, 2), await semaphoreAt(trial, 2)]
      for (let round = 0; round < 2; round += 1) {
        for (const semaphore of semaphores) {
          const permit = await enter(trial, semaphore)
          tokens.push(permit.fencingToken ?? 0n)
          await trial.during(permit.release())
          assert.equal(permit.fencingToken, undefined)
        }
      }
      for (const [place, token] of tokens.entries()) if (place > 0) assert(token > (tokens[place - 1] ?? 0n))
    },

    'the number of the instance that came last counts for all, and never are more held than the larger one': async (
      trial,
    ) => {
      const before = await semaphoreAt(trial, 3)
      const permits: PermitUnderTest[] = []
      for (let count = 0; count < 3; count += 1) permits.push(await enter(trial, before))
      const fewer = await semaphoreAt(trial, 1)
      // No permit is given while as many are held as there are now, whichever slots are free.
      for (const permit of permits) {
        for (const semaphore of [fewer, before]) {
          assert.equal(await trial.during(semaphore.acquire()), undefined)
          assert.equal(semaphore.permits, 1)
        }
        await trial.during(permit.release())
      }
      await enter(trial, before)
      assert.equal(await trial.during(fewer.acquire()), undefined)
      const more = await semaphoreAt(trial, 2)
      await enter(trial, more)
      for (const semaphore of [more, fewer, before]) assert.equal(await trial.during(semaphore.acquire()), undefined)
      assert.equal(before.permits, 2)
    },

    'a resize does not wait behind those that wait for a permit': async (trial) => {
      const semaphore = await semaphoreAt(trial, 1)
      const held = await enter(trial, semaphore)
      const other = await semaphoreAt(trial, 1)
      const waiting = other.acquire({ wait: forEver })
      await trial.pass(trial.ttl / 5)
      // A wait for the turn would end here only with the permit.
      const resizer = await semaphoreAt(trial, 1)
      await trial.during(resizer.resize(2))
      const permit = await trial.during(waiting)
      assert.equal(permit?.checkLease(), true)
      assert.equal(held.checkLease(), true)
      // The waiter follows, and so does the next one.
      for (const instance of [semaphore, other, resizer]) {
        assert.equal(await trial.during(instance.acquire()), undefined)
        assert.equal(instance.permits, 2)
      }
      const next = semaphore.acquire({ wait: forEver })
      await trial.pass(trial.ttl / 5)
      const shrinking = resizer.resize(1)
      // The waiter may have to poll for it, and takes a slot that becomes free before it has written the number.
      await trial.until('the waiter has written the number', () => semaphore.permits === 1)
      await trial.during(held.release())
      await trial.during(shrinking)
      await trial.pass(trial.ttl / 5)
      assert.equal(semaphore.permits, 1)
      await trial.during(permit?.release() ?? Promise.resolve(false))
      assert.equal((await trial.during(next))?.checkLease(), true)
    },

    'after a smaller number, no permit is given while so many are held': async (trial) => {
      const semaphore = await semaphoreAt(trial, 3)
      const permits: PermitUnderTest[] = []
      for (let count = 0; count < 3; count += 1) permits.push(await enter(trial, semaphore))
      const resizing = semaphore.resize(1)
      await trial.pass(trial.ttl / 5)
      const [lowest, middle, highest] = permits
      await trial.during(lowest?.release() ?? Promise.resolve(false))
      assert.equal(await trial.during(semaphore.acquire()), undefined)
      await trial.during(middle?.release() ?? Promise.resolve(false))
      await trial.during(resizing)
      assert.equal(await trial.during(semaphore.acquire()), undefined)
      const waiting = semaphore.acquire({ wait: forEver })
      await trial.pass(trial.ttl / 5)
      await trial.during(highest?.release() ?? Promise.resolve(false))
      assert.equal((await trial.during(waiting))?.slot, 0)
    },

    'a number that comes back in between does not confuse a resize': async (trial) => {
      const place = await trial.place()
      const slow = await semaphoreAt(trial, 2, place)
      const other = await semaphoreAt(trial, 2)
      await enter(trial, other)
      const high = await enter(trial, other)
      const shrinking = slow.resize(1).catch(() => {})
      await trial.pass(trial.ttl / 5)
      // If it claims anything after it has seen the slot empty, it comes late.
      place.store.inject({ kind: 'delay', duration: trial.ttl / 30 }, 'acquire')
      await trial.during(high.release())
      await trial.pass(trial.ttl / 200)
      await trial.during(other.resize(2))
      await enter(trial, other)
      const again = other.resize(1)
      again.catch(() => {})
      await trial.pass(trial.ttl / 2)
      let isReached = false
      const end = (): void => {
        isReached = true
      }
      const last = (await semaphoreAt(trial, 2)).resize(1)
      last.then(end, () => {})
      await trial.pass(trial.ttl / 2)
      assert.equal(isReached, false, 'a resize to 1 has ended while 2 permits are held')
      await trial.during(Promise.allSettled([other.stop(), shrinking]))
      await trial.during(last)
    },

    'a resize rejects if another one changes the number before it is reached': async (trial) => {
      const semaphore = await semaphoreAt(trial, 3)
      for (let count = 0; count < 3; count += 1) await enter(trial, semaphore)
      const first = assert.rejects(semaphore.resize(1), { code: 'conflict', message: /\b2 permits\b/ })
      await trial.pass(trial.ttl / 5)
      const other = await semaphoreAt(trial, 3)
      const second = other.resize(2)
      await trial.during(first)
      await trial.during(semaphore.stop())
      await trial.during(second)
      for (let count = 0; count < 2; count += 1) await enter(trial, other)
      assert.equal(await trial.during(other.acquire()), undefined)
    },

    'a resize outlives the restart of an instance, until one is made with another number': async (trial) => {
      await enter(trial, await semaphoreAt(trial, 2))
      await trial.during((await semaphoreAt(trial, 2)).resize(3))
      const restarted = await semaphoreAt(trial, 2)
      await enter(trial, restarted)
      assert.equal(restarted.permits, 3)
      const deployed = await semaphoreAt(trial, 1)
      assert.equal(await trial.during(deployed.acquire()), undefined)
      assert.equal(deployed.permits, 1)
    },

    'a smaller number is reached when the highest slots are empty, and no permit is taken away': async (trial) => {
      const semaphore = await semaphoreAt(trial, 3)
      const permits: PermitUnderTest[] = []
      for (let count = 0; count < 3; count += 1) permits.push(await enter(trial, semaphore))
      let isResized = false
      const resizing = semaphore.resize(1).then(() => {
        isResized = true
      })
      await trial.pass(trial.ttl)
      assert.equal(permits.filter((permit) => permit.checkLease()).length, 3)
      const [lowest, middle, highest] = permits
      await trial.during(middle?.release() ?? Promise.resolve(false))
      assert.equal(await trial.during(semaphore.acquire()), undefined)
      await trial.pass(trial.ttl / 10)
      assert.equal(isResized, false)
      await trial.during(highest?.release() ?? Promise.resolve(false))
      await trial.during(resizing)
      assert.equal(await trial.during(semaphore.acquire()), undefined)
      await trial.during(lowest?.release() ?? Promise.resolve(false))
      assert.equal((await enter(trial, semaphore)).slot, 0)
    },

    'a larger number lets more in, in every instance, but not before leftover slots are empty': async (trial) => {
      const semaphore = await semaphoreAt(trial, 4)
      const other = await semaphoreAt(trial, 4)
      const permits: PermitUnderTest[] = []
      for (let count = 0; count < 4; count += 1) permits.push(await enter(trial, count === 0 ? other : semaphore))
      const shrinking = semaphore.resize(1)
      shrinking.catch(() => {})
      await trial.pass(trial.ttl / 5)
      // One more would be a fourth valid permit, although 1 and 3 are the numbers.
      const growing = other.resize(3)
      await trial.during(permits.find(({ slot }) => slot === 1)?.release() ?? Promise.resolve(false))
      await trial.pass(trial.ttl / 5)
      assert.equal(await trial.during(other.acquire()), undefined)
      await trial.during(permits.find(({ slot }) => slot === 3)?.release() ?? Promise.resolve(false))
      await trial.during(growing)
      assert.equal((await enter(trial, other)).slot, 1)
      assert.equal(await trial.during(semaphore.acquire()), undefined)
      assert.equal(semaphore.permits, 3)
    },

    'closing releases the permits, and ends the waits': async (trial) => {
      const semaphore = await trial.create({ permits: 1 })
      const permit = await enter(trial, semaphore)
      const waiting = assert.rejects(semaphore.acquire({ wait: forEver }))
      await trial.pass(trial.ttl / 10)
      await trial.during(semaphore.stop())
      await trial.during(waiting)
      assert.equal(permit.checkLease(), false)
      await enter(trial, await semaphoreAt(trial, 1))
    },
  }),

  ...lawsOf(['metadata', 'queue', 'watch'], {
    'waiters are served first come, first served': async (trial) => {
      const permit = await enter(trial, await semaphoreAt(trial, 1))
      const { turns, served } = await queueUp(trial, 5)
      await trial.during(permit.release())
      await trial.during(turns)
      assert.deepEqual(served, [0, 1, 2, 3, 4])
    },

    'a hand-over costs the same number of store calls, however many wait': async (trial) => {
      for (const waiters of [1, 8, 32]) {
        const calls = await callsWhile(trial, waiters)
        assert(calls <= CALLS_OF_A_HAND_OVER, `${calls} calls for each hand-over while ${waiters} wait`)
      }
    },
  }),
]
