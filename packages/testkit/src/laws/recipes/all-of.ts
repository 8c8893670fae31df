import assert from 'node:assert/strict'
import { breakLease, createLease, type Lease, type LeaseLost, LeaseLostError, type StoreLease } from '@leasehold/core'
import { type RecipePlace, type RecipeTrial, recipeLawsWith } from '../recipe-trial.js'

/** The part of `allOf` that its laws use. */
export interface AllOfUnderLaw {
  /** The lease over all parts. */
  readonly whole: Lease & { readonly fencingTokens: ReadonlyMap<string, bigint> }
  /** The parts, in the order in which they were given. */
  readonly parts: readonly StoreLease[]
}

/** The names of the parts, in the order in which they are given. */
export interface AllOfLawOptions {
  readonly names: readonly string[]
}

type Trial = RecipeTrial<AllOfUnderLaw, AllOfLawOptions>

const forever = { wait: Number.POSITIVE_INFINITY }

function namesOf(trial: Trial): [one: string, two: string, three: string] {
  return [`${trial.name}/1`, `${trial.name}/2`, `${trial.name}/3`]
}

/** A lease of another owner on one name. */
async function otherLease(trial: Trial, name: string): Promise<StoreLease> {
  const { store, leaseOptions } = await trial.place()
  const lease = createLease(store, name, leaseOptions)
  trial.atEnd(() => lease.close())
  return lease
}

/** All leases in a place, held, and their losses. */
async function holdAll(trial: Trial, names: readonly string[], place?: RecipePlace) {
  const joint = await trial.create({ names }, place)
  const losses: LeaseLost[] = []
  trial.atEnd(() => joint.whole.release())
  const held = joint.whole.acquire({ onLost: (lost) => losses.push(lost) })
  assert.equal(await trial.during(held), true)
  return { ...joint, losses }
}

async function assertFree(trial: Trial, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const other = await otherLease(trial, name)
    assert.equal(await trial.during(other.acquire({ wait: trial.ttl / 4 })), true, `${name} should be free`)
    await trial.during(other.release())
  }
}

const lawsOf = recipeLawsWith(async (trial: Trial) => [namesOf(trial)])

/** The laws of `allOf`. The leases are those of the place, with the names that the options give. */
export const allOfLaws = [
  ...lawsOf([], {
    'all parts are held, or none': async (trial, names) => {
      const other = await otherLease(trial, names[1])
      assert.equal(await trial.during(other.acquire()), true)
      const { whole, parts } = await trial.create({ names })
      assert.equal(await trial.during(whole.acquire()), false)
      assert.equal(whole.checkLease(), false)
      assert.deepEqual(
        parts.map((part) => part.checkLease()),
        [false, false, false],
      )
      await assertFree(trial, [names[0], names[2]])
      await trial.during(other.release())
      assert.equal(await trial.during(whole.acquire()), true)
      assert(parts.every((part) => part.checkLease()))
      assert.equal(await trial.during(whole.release()), true)
      await assertFree(trial, names)
    },

    'two that are given their parts in opposite orders never wait for each other': async (trial, names) => {
      const joint = [await trial.create({ names }), await trial.create({ names: names.toReversed() })]
      let turns = 0
      const takeTurns = joint.map(async ({ whole }) => {
        for (let turn = 0; turn < 3; turn += 1) {
          assert.equal(await whole.acquire(forever), true)
          assert(joint.every((one) => one.whole === whole || !one.whole.checkLease()))
          turns += 1
          await whole.release()
        }
      })
      await trial.during(Promise.all(takeTurns), 11 * trial.ttl)
      assert.equal(turns, 6)
    },

    'parts are released in the reverse of the order in which they are acquired': async (trial, names) => {
      const { whole, parts } = await trial.create({ names: [names[2], names[0], names[1]] })
      const events: string[] = []
      for (const part of parts) {
        part.on('acquired', ({ name }) => events.push(`+${name.slice(-1)}`))
        part.on('released', () => events.push(`-${part.settings.name.slice(-1)}`))
      }
      assert.equal(await trial.during(whole.acquire()), true)
      assert.equal(await trial.during(whole.release()), true)
      assert.deepEqual(events, ['+1', '+2', '+3', '-3', '-2', '-1'])
    },

    'the tokens of the parts are found by name, and grow with each grant': async (trial, names) => {
      const { whole, parts } = await holdAll(trial, names)
      const first = whole.fencingTokens
      assert.deepEqual(
        parts.map(({ settings: { name } }) => first.get(name)),
        parts.map(({ fencingToken }) => fencingToken),
      )
      assert.equal(first.size, 3)
      await trial.during(whole.release())
      assert.equal(whole.fencingTokens.size, 0)
      assert.equal(await trial.during(whole.acquire()), true)
      for (const name of names) {
        const [earlier, later] = [first.get(name), whole.fencingTokens.get(name)]
        assert(earlier !== undefined && later !== undefined && earlier < later)
      }
    },

    'one loss is notified, with the name of a part, when the store is out of reach': async (trial, names) => {
      const place = await trial.place()
      const { whole, losses } = await holdAll(trial, names, place)
      const { signal } = whole
      const running = assert.rejects(
        whole.run(() => new Promise(() => {})),
        LeaseLostError,
      )
      place.cutOff()
      await trial.pass(2 * trial.ttl)
      await trial.during(running)
      assert.deepEqual(
        losses.map(({ reason }) => reason),
        ['expired'],
      )
      const cause = losses[0]?.cause
      assert(cause instanceof LeaseLostError && names.some((name) => name === cause.leaseName))
      assert.equal(signal.aborted, true)
      assert.equal(whole.checkLease(), false)
      assert.equal(whole.fencingTokens.size, 0)
      place.heal()
      assert.equal(await trial.during(whole.acquire(forever)), true)
      assert.equal(losses.length, 1)
    },

    'a part that was held before stays held': async (trial, names) => {
      const { whole, parts } = await trial.create({ names })
      trial.atEnd(() => Promise.all(parts.map((part) => part.release())))
      assert.equal(await trial.during(parts[1]?.acquire() ?? Promise.resolve(false)), true)
      const token = parts[1]?.fencingToken
      assert.equal(await trial.during(whole.acquire()), true)
      assert.equal(await trial.during(whole.release()), true)
      assert.equal(whole.checkLease(), false)
      assert.equal(parts[1]?.checkLease(), true)
      assert.equal(parts[1]?.fencingToken, token)
      await assertFree(trial, [names[0], names[2]])
    },

    'a part that is released by itself is the loss of all': async (trial, names) => {
      const { whole, parts, losses } = await holdAll(trial, names)
      assert.equal(await trial.during(parts[0]?.release() ?? Promise.resolve(false)), true)
      assert.equal(whole.checkLease(), false)
      await trial.until('the loss is notified', () => losses.length === 1)
      await trial.during(whole.release())
      await assertFree(trial, names)
    },

    'a part whose outcome is unknown frees the others, and rejects': async (trial, names) => {
      const place = await trial.place()
      const { whole, parts } = await trial.create({ names }, place)
      parts[0]?.once('acquired', () => place.cutOff())
      await assert.rejects(trial.during(whole.acquire()))
      assert(parts.every((part) => !part.checkLease()))
      place.heal()
      // Requests that were sent before may still hang.
      await trial.pass(trial.ttl)
      assert.equal(await trial.during(whole.release()), true)
      await assertFree(trial, names)
    },

    'callers of one attempt wait for as long as each asked for': async (trial, names) => {
      const other = await otherLease(trial, names[2])
      assert.equal(await trial.during(other.acquire()), true)
      const { whole } = await trial.create({ names })
      trial.atEnd(() => whole.release())
      const controller = new AbortController()
      const patient = whole.acquire(forever)
      const given = whole.acquire({ ...forever, signal: controller.signal })
      const rejected = assert.rejects(given, /enough/)
      assert.equal(await trial.during(whole.acquire()), false)
      controller.abort(new Error('enough'))
      await rejected
      assert.equal(whole.checkLease(), false)
      await trial.during(other.release())
      assert.equal(await trial.during(patient), true)
      assert.equal(whole.checkLease(), true)
    },

    'a waiter that gives up frees the parts that it has taken': async (trial, names) => {
      const other = await otherLease(trial, names[2])
      assert.equal(await trial.during(other.acquire()), true)
      const { whole, parts } = await trial.create({ names })
      const controller = new AbortController()
      const given = assert.rejects(whole.acquire({ ...forever, signal: controller.signal }), /enough/)
      await trial.until('the first part is taken', () => parts[0]?.checkLease() === true)
      controller.abort(new Error('enough'))
      await given
      await assertFree(trial, [names[0], names[1]])
      await trial.during(other.release())
      await assertFree(trial, names)
    },
  }),

  ...lawsOf(['break'], {
    'the loss of any part is the loss of all, and frees the others': async (trial) => {
      const [first, ...others] = namesOf(trial)
      for (const broken of [first, ...others]) {
        const names = namesOf(trial)
        const { whole, losses } = await holdAll(trial, names)
        const { store } = await trial.place()
        const seen: boolean[] = []
        await trial.during(whole.acquire({ onLost: () => seen.push(whole.checkLease()) }))
        await trial.during(breakLease(store, broken, { period: 0 }))
        await trial.until('the loss is notified', () => losses.length > 0)
        assert.deepEqual(seen, [false])
        assert.equal(losses[0]?.reason, 'broken')
        const cause = losses[0]?.cause
        assert(cause instanceof LeaseLostError && cause.leaseName === broken && cause.reason === 'broken')
        await trial.pass(trial.ttl / 10)
        await assertFree(trial, names)
        assert.equal(losses.length, 1)
      }
    },

    'a part that is lost while others are waited for is asked for again': async (trial, names) => {
      const other = await otherLease(trial, names[2])
      assert.equal(await trial.during(other.acquire()), true)
      const { whole, parts } = await trial.create({ names })
      trial.atEnd(() => whole.release())
      const losses: LeaseLost[] = []
      const waiting = whole.acquire({ ...forever, onLost: (lost) => losses.push(lost) })
      await trial.until('the others are taken', () => parts[1]?.checkLease() === true)
      const { store } = await trial.place()
      const usurper = await otherLease(trial, names[0])
      await trial.during(breakLease(store, names[0], { period: 0 }))
      assert.equal(await trial.during(usurper.acquire({ wait: trial.ttl })), true)
      await trial.until('the loss is noticed', () => parts[1]?.checkLease() === false)
      await trial.during(other.release())
      await trial.pass(trial.ttl / 2)
      assert.equal(whole.checkLease(), false)
      await trial.during(usurper.release())
      assert.equal(await trial.during(waiting), true)
      assert(parts.every((part) => part.checkLease()))
      assert.deepEqual(losses, [])
    },
  }),
]
