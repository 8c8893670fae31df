import assert from 'node:assert/strict'
import { breakLease, createLease, type Lease, type LeaseLost, LeaseLostError, type StoreLease } from '@leasehold/core'
import { type RecipeTrial, recipeLawsWith } from './recipe-trial.js'

/** The part of `AllOf` that its laws use. */
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

/** A lease of another owner on one name. */
async function otherLease(trial: Trial, name: string): Promise<StoreLease> {
  const { store, leaseOptions } = await trial.place()
  const lease = createLease(store, name, leaseOptions)
  trial.atEnd(() => lease.close())
  return lease
}

/** A lease of another owner on one name, held. */
async function heldByOther(trial: Trial, name: string): Promise<StoreLease> {
  const lease = await otherLease(trial, name)
  assert.equal(await trial.during(lease.acquire()), true)
  return lease
}

async function assertFree(trial: Trial, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const other = await otherLease(trial, name)
    assert.equal(await trial.during(other.acquire({ wait: trial.ttl / 4 })), true, `${name} should be free`)
    await trial.during(other.release())
  }
}

/** All leases in a place of their own, and their losses; they are released at the end. */
async function jointOf(trial: Trial, names: readonly string[]) {
  const place = await trial.place()
  const { whole, parts } = await trial.create({ names }, place)
  const losses: LeaseLost[] = []
  trial.atEnd(() => Promise.all([whole, ...parts].map((lease) => lease.release())))
  const hold = async (): Promise<void> => {
    const held = whole.acquire({ onLost: (lost) => losses.push(lost) })
    assert.equal(await trial.during(held), true)
  }
  return { place, whole, parts: parts as readonly [StoreLease, StoreLease, StoreLease], losses, hold }
}

/** The laws get three names, and leases that are joint on them. */
const lawsOf = recipeLawsWith(async (trial: Trial) => {
  const names = [`${trial.name}/1`, `${trial.name}/2`, `${trial.name}/3`] as const
  return [names, await jointOf(trial, names)]
})

/** The laws of `AllOf`. The leases are those of the place, with the names that the options give. */
export const allOfLaws = [
  ...lawsOf([], {
    'all parts are held, or none': async (trial, names, { whole, parts }) => {
      const other = await heldByOther(trial, names[1])
      assert.equal(await trial.during(whole.acquire()), false)
      assert.equal(whole.checkLease(), false)
      assert(parts.every((part) => !part.checkLease()))
      await assertFree(trial, [names[0], names[2]])
      await trial.during(other.release())
      assert.equal(await trial.during(whole.acquire()), true)
      assert(parts.every((part) => part.checkLease()))
      assert.equal(await trial.during(whole.release()), true)
      await assertFree(trial, names)
    },

    'two that are given their parts in opposite orders never wait for each other': async (trial, names, one) => {
      const joint = [one, await jointOf(trial, names.toReversed())]
      let turns = 0
      const takeTurns = joint.map(async ({ whole }) => {
        for (let turn = 0; turn < 3; turn += 1) {
          assert.equal(await whole.acquire(forever), true)
          assert(joint.every((other) => other.whole === whole || !other.whole.checkLease()))
          turns += 1
          await whole.release()
        }
      })
      await trial.during(Promise.all(takeTurns), 11 * trial.ttl)
      assert.equal(turns, 6)
    },

    'parts are released in the reverse of the order in which they are acquired': async (trial, names) => {
      const { whole, parts } = await jointOf(trial, [names[2], names[0], names[1]])
      const events: string[] = []
      for (const part of parts) {
        part.on('acquired', ({ name }) => events.push(`+${name.slice(-1)}`))
        part.on('released', () => events.push(`-${part.settings.name.slice(-1)}`))
      }
      assert.equal(await trial.during(whole.acquire()), true)
      assert.equal(await trial.during(whole.release()), true)
      assert.deepEqual(events, ['+1', '+2', '+3', '-3', '-2', '-1'])
    },

    'the tokens of the parts are found by name, and grow with each grant': async (trial, names, joint) => {
      const { whole, parts } = joint
      await joint.hold()
      const first = whole.fencingTokens
      const tokens = parts.map(({ settings, fencingToken }) => [settings.name, fencingToken] as const)
      assert.deepEqual(new Map(first), new Map(tokens))
      await trial.during(whole.release())
      assert.equal(whole.fencingTokens.size, 0)
      assert.equal(await trial.during(whole.acquire()), true)
      for (const name of names) {
        const [earlier, later] = [first.get(name), whole.fencingTokens.get(name)]
        assert(earlier !== undefined && later !== undefined && earlier < later)
      }
    },

    'one loss is notified, with the name of a part, when the store is out of reach': async (trial, names, joint) => {
      const { whole, losses, place } = joint
      await joint.hold()
      const { signal } = whole
      const run = whole.run(() => new Promise(() => {}))
      const running = assert.rejects(run, LeaseLostError)
      place.cutOff()
      await trial.pass(2 * trial.ttl)
      await trial.during(running)
      assert.equal(losses.length, 1)
      assert.equal(losses[0]?.reason, 'expired')
      const cause = losses[0]?.cause
      assert(cause instanceof LeaseLostError && names.some((name) => name === cause.leaseName))
      assert.equal(signal.aborted, true)
      assert.equal(whole.checkLease(), false)
      assert.equal(whole.fencingTokens.size, 0)
      place.heal()
      assert.equal(await trial.during(whole.acquire(forever)), true)
      assert.equal(losses.length, 1)
    },

    'a part that was held before stays held': async (trial, names, { whole, parts }) => {
      assert.equal(await trial.during(parts[1].acquire()), true)
      const token = parts[1].fencingToken
      assert.equal(await trial.during(whole.acquire()), true)
      assert.equal(await trial.during(whole.release()), true)
      assert.equal(whole.checkLease(), false)
      assert.equal(parts[1].checkLease(), true)
      assert.equal(parts[1].fencingToken, token)
      await assertFree(trial, [names[0], names[2]])
    },

    'a part that is released by itself is the loss of all': async (trial, names, { whole, parts, losses, hold }) => {
      await hold()
      assert.equal(await trial.during(parts[0].release()), true)
      assert.equal(whole.checkLease(), false)
      await trial.until('the loss is notified', () => losses.length === 1)
      await trial.during(whole.release())
      await assertFree(trial, names)
    },

    'a part whose outcome is unknown frees the others, and rejects': async (trial, names, { whole, parts, place }) => {
      parts[0].once('acquired', () => place.cutOff())
      await assert.rejects(trial.during(whole.acquire()))
      assert(parts.every((part) => !part.checkLease()))
      place.heal()
      // Requests that were sent before may still hang.
      await trial.pass(trial.ttl)
      assert.equal(await trial.during(whole.release()), true)
      await assertFree(trial, names)
    },

    'callers of one attempt wait for as long as each asked for': async (trial, names, { whole }) => {
      const other = await heldByOther(trial, names[2])
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

    'a waiter that gives up frees the parts that it has taken': async (trial, names, { whole, parts }) => {
      const other = await heldByOther(trial, names[2])
      const controller = new AbortController()
      const given = assert.rejects(whole.acquire({ ...forever, signal: controller.signal }), /enough/)
      await trial.until('the first part is taken', () => parts[0].checkLease() === true)
      controller.abort(new Error('enough'))
      await given
      await assertFree(trial, [names[0], names[1]])
      await trial.during(other.release())
      await assertFree(trial, names)
    },
  }),

  ...lawsOf(['break'], {
    'the loss of any part is the loss of all, and frees the others': async (trial, names) => {
      for (const broken of names) {
        const { whole, losses, hold } = await jointOf(trial, names)
        await hold()
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

    'a part that is lost while others are waited for is asked for again': async (trial, names, { whole, parts }) => {
      const other = await heldByOther(trial, names[2])
      const losses: LeaseLost[] = []
      const waiting = whole.acquire({ ...forever, onLost: (lost) => losses.push(lost) })
      await trial.until('the others are taken', () => parts[1].checkLease() === true)
      const { store } = await trial.place()
      const usurper = await otherLease(trial, names[0])
      await trial.during(breakLease(store, names[0], { period: 0 }))
      assert.equal(await trial.during(usurper.acquire({ wait: trial.ttl })), true)
      await trial.until('the loss is noticed', () => parts[1].checkLease() === false)
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
