import assert from 'node:assert/strict'
import { type AcquireOptions, type Lease, readLease } from '@leasehold/core'
import { endedBefore } from '../../../testkit/src/laws/succession.js'
import { type RecipePlace, type RecipeTrial, recipeLawsWith } from './recipe-trial.js'

/** A read-write lease as the laws see it. */
export interface ReadWriteUnderTest {
  readonly shared: Lease
  readonly exclusive: Lease
  stop(): Promise<void>
}

/** The options of a read-write lease that the laws set. */
export interface ReadWriteLawOptions {
  readonly readers: number
}

type Trial = RecipeTrial<ReadWriteUnderTest, ReadWriteLawOptions>

const forEver = Number.POSITIVE_INFINITY

async function open(trial: Trial, place?: RecipePlace, readers = 3): Promise<ReadWriteUnderTest> {
  const both = await trial.create({ readers }, place)
  trial.atEnd(() => both.stop())
  return both
}

async function acquire(trial: Trial, lease: Lease, options?: AcquireOptions): Promise<void> {
  assert.equal(await trial.during(lease.acquire(options)), true)
  assert.equal(lease.checkLease(), true)
}

async function assertConflict(trial: Trial, lease: Lease): Promise<void> {
  await assert.rejects(trial.during(lease.acquire({ wait: forEver })), { code: 'conflict' })
}

/** The laws get two of one name, each in a place of its own. */
const lawsOf = recipeLawsWith(async (trial: Trial) => [await open(trial), await open(trial)])

/** The rules that every read-write lease has to keep. */
export const readWriteLaws = [
  ...lawsOf(['metadata'], {
    'readers read together, up to the stated number': async (trial, first, other) => {
      const others = [other, await open(trial)]
      for (const { shared } of [first, ...others]) await acquire(trial, shared)
      const late = await open(trial)
      assert.equal(await trial.during(late.shared.acquire()), false)
      const waiting = late.shared.acquire({ wait: forEver })
      await trial.during(first.shared.release())
      assert.equal(await trial.during(waiting), true)
      assert(others.every(({ shared }) => shared.checkLease()))
    },

    'a writer is alone': async (trial, writer, other) => {
      await acquire(trial, writer.exclusive)
      assert.equal(await trial.during(other.shared.acquire()), false)
      assert.equal(await trial.during(other.exclusive.acquire()), false)
      const reading = other.shared.acquire({ wait: forEver })
      await trial.pass(trial.ttl / 2)
      assert.equal(other.shared.checkLease(), false)
      assert.equal(await trial.during(writer.exclusive.release()), true)
      assert.equal(await trial.during(reading), true)
    },

    'a writer waits until every reader has left': async (trial, ...readers) => {
      for (const { shared } of readers) await acquire(trial, shared)
      const writer = await open(trial)
      assert.equal(await trial.during(writer.exclusive.acquire()), false)
      const writing = writer.exclusive.acquire({ wait: forEver })
      for (const { shared } of readers) {
        await trial.pass(trial.ttl / 10)
        assert.equal(writer.exclusive.checkLease(), false)
        assert.equal(shared.checkLease(), true)
        await trial.during(shared.release())
      }
      assert.equal(await trial.during(writing), true)
    },

    'a writer waits for the end of the validity of a reader that is cut off': async (trial, writer) => {
      const place = await trial.place()
      const reader = await open(trial, place)
      await acquire(trial, reader.shared)
      const { signal } = reader.shared
      place.cutOff()
      const writing = endedBefore(reader.shared, writer.exclusive.acquire({ wait: forEver }))
      assert.equal(await trial.during(writing, 5 * trial.ttl), true)
      assert.equal(signal.aborted, true)
    },

    'a waiting writer is not overtaken by readers that come later': async (trial, reader, writer) => {
      await acquire(trial, reader.shared)
      const writing = writer.exclusive.acquire({ wait: forEver })
      await trial.pass(trial.ttl / 10)
      const late = await open(trial)
      assert.equal(await trial.during(late.shared.acquire()), false)
      await trial.during(reader.shared.release())
      assert.equal(await trial.during(writing), true)
    },

    'a reader whose turnstile was lost before its slot was granted does not read': async (trial) => {
      const { ttl } = trial
      const first = await open(trial, undefined, 1)
      await acquire(trial, first.shared)
      const place = await trial.place()
      const late = await open(trial, place, 1)
      const reading = late.shared.acquire({ wait: 1.5 * ttl }).catch(() => false)
      const entered = place.calls.length
      await trial.until('the late reader is at the turnstile', () => place.calls.length > entered + 2)
      // From now on its turnstile is not renewed.
      for (let count = 0; count < 60; count += 1) {
        for (const operation of ['renew', 'renewMany', 'update'] as const)
          place.store.inject({ kind: 'fail-before' }, operation)
      }
      const writer = await open(trial, undefined, 1)
      const writing = writer.exclusive.acquire({ wait: forEver })
      await trial.pass(0.96 * ttl)
      // The slot is asked for in time, and granted after the writer has looked at it.
      place.store.inject({ kind: 'delay', duration: Number(place.leaseOptions.operationTimeout) * 0.98 }, 'acquire')
      await trial.during(first.shared.release())
      assert.equal(await trial.during(writing), true)
      for (let count = 0; count < 20; count += 1) {
        assert(!(late.shared.checkLease() && writer.exclusive.checkLease()), 'a reader beside a writer')
        await trial.pass(ttl / 200)
      }
      await trial.during(writer.exclusive.release())
      await trial.during(reading)
    },

    'a reader cannot become a writer, nor a writer a reader': async (trial, both) => {
      await acquire(trial, both.shared)
      await assertConflict(trial, both.exclusive)
      await trial.during(both.shared.release())
      await acquire(trial, both.exclusive)
      await assertConflict(trial, both.shared)
      await trial.during(both.exclusive.release())
      await acquire(trial, both.shared)
    },

    'fencing tokens are larger for every later entry, of readers and writers alike': async (trial, one, other) => {
      const tokens: bigint[] = []
      for (const lease of [one.shared, other.exclusive, other.shared, one.exclusive]) {
        await acquire(trial, lease)
        tokens.push(lease.fencingToken ?? 0n)
        await trial.during(lease.release())
      }
      for (const [place, token] of tokens.entries()) if (place > 0) assert(token > (tokens[place - 1] ?? 0n))
    },

    'the number of the instance that came last counts for all, and a writer sees the readers of the larger one': async (
      trial,
      first,
      second,
    ) => {
      const third = await open(trial)
      for (const { shared } of [first, second, third]) await acquire(trial, shared)
      const fewer = await open(trial, undefined, 1)
      for (const { shared } of [first, second]) {
        assert.equal(await trial.during(fewer.shared.acquire()), false)
        assert.equal(await trial.during(fewer.exclusive.acquire()), false)
        await trial.during(shared.release())
      }
      assert.equal(await trial.during(first.shared.acquire()), false)
      assert.equal(await trial.during(fewer.exclusive.acquire()), false)
      await trial.during(third.shared.release())
      await acquire(trial, fewer.exclusive)
      await trial.during(fewer.exclusive.release())
      await acquire(trial, first.shared)
      assert.equal(await trial.during(second.shared.acquire()), false)
    },

    'the metadata of a writer is in the record while it holds the name': async (trial) => {
      const place = await trial.place()
      const both = await open(trial, place)
      const { clock } = place.leaseOptions
      const metadataNow = async () =>
        (await trial.during(readLease(place.store, trial.name, clock === undefined ? {} : { clock })))?.metadata
      await acquire(trial, both.exclusive, { metadata: { note: 'import' } })
      assert.equal((await metadataNow())?.note, 'import')
      // The record still does its own work.
      assert.equal(await trial.during((await open(trial)).shared.acquire()), false)
      await trial.during(both.exclusive.release())
      await acquire(trial, both.shared)
      await trial.during(both.shared.release())
      assert.equal((await metadataNow())?.note, undefined)
      for (const key of ['readers', 'stays']) {
        await assert.rejects(trial.during(both.exclusive.acquire({ metadata: { [key]: '5' } })), {
          code: 'configuration',
          message: new RegExp(`must not have the key '${key}'`),
        })
      }
      await acquire(trial, both.shared)
    },
  }),

  ...lawsOf(['metadata', 'watch'], {
    'a reader costs five calls when nobody waits': async (trial) => {
      const place = await trial.place()
      const both = await open(trial, place)
      await acquire(trial, both.shared)
      await trial.during(both.shared.release())
      const before = place.calls.length
      await acquire(trial, both.shared)
      await trial.during(both.shared.release())
      assert(place.calls.length - before <= 5, place.calls.slice(before).join(', '))
    },
  }),
]
