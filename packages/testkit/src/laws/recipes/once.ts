import assert from 'node:assert/strict'
import {
  createLease,
  LeaseConfigurationError,
  LeaseHeldError,
  LeaseLostError,
  LeaseUnavailableError,
} from '@leasehold/core'
import { recipeLawsWith } from '../recipe-trial.js'

/** The part of `Once` that its laws use. */
export interface OnceUnderLaw {
  run(
    key: string,
    work: (held: { readonly signal: AbortSignal; readonly fencingToken: bigint }) => Promise<unknown>,
    options?: { readonly wait?: number },
  ): Promise<unknown>
  read(key: string): Promise<{ readonly outcome: unknown; readonly owner: string } | undefined>
  close(): Promise<void>
}

const forever = { wait: Number.POSITIVE_INFINITY }

/** Never ends by itself. */
const endless = (): Promise<never> => new Promise(() => {})

const lawsOf = recipeLawsWith<OnceUnderLaw, Record<never, never>>(() => [])

/** The laws of `Once`. The lease of a key has the key as its name, and its ttl is that of the place. */
export const onceLaws = [
  ...lawsOf(['metadata'], {
    'the work of a key is done once, and every caller gets its outcome': async (trial) => {
      const place = await trial.place()
      let works = 0
      const work = async (): Promise<unknown> => {
        works += 1
        await new Promise((resolve) => place.leaseOptions.clock?.schedule(trial.ttl / 5, () => resolve(undefined)))
        return { works }
      }
      const callers = [await trial.create({}, place), await trial.create({}), await trial.create({})]
      const together = callers.flatMap((once) => [
        once.run(trial.name, work, forever),
        once.run(trial.name, work, forever),
      ])
      const outcomes = await trial.during(Promise.all(together), 10 * trial.ttl)
      assert.deepEqual(outcomes, Array(6).fill({ works: 1 }))
      assert.equal(works, 1)
    },

    'later callers get the outcome that was left, and start nothing': async (trial) => {
      const place = await trial.place()
      const once = await trial.create({}, place)
      assert.equal(await trial.during(once.read(trial.name)), undefined)
      assert.deepEqual(await trial.during(once.run(trial.name, async () => ['a', 1])), ['a', 1])
      for (const later of [once, await trial.create({})]) {
        const outcome = await trial.during(later.run(trial.name, () => assert.fail('the work was done again')))
        assert.deepEqual(outcome, ['a', 1])
        const { owner } = place.leaseOptions
        assert.deepEqual(await trial.during(later.read(trial.name)), { outcome: ['a', 1], owner })
      }
    },

    'an outcome that is undefined is kept, too': async (trial) => {
      const once = await trial.create({})
      assert.equal(await trial.during(once.run(trial.name, async () => undefined)), undefined)
      assert.equal(await trial.during(once.run(trial.name, () => assert.fail('the work was done again'))), undefined)
    },

    'two keys are done independently of each other': async (trial) => {
      const once = await trial.create({})
      const [one, other] = [`${trial.name}-1`, `${trial.name}-2`]
      const nested = once.run(one, () => once.run(other, async () => 'inner'))
      assert.equal(await trial.during(nested), 'inner')
    },

    'a caller that does not wait is refused, with the holder': async (trial) => {
      const place = await trial.place()
      const holder = await trial.create({}, place)
      let isWorking = false
      const working = holder.run(trial.name, () => {
        isWorking = true
        return endless()
      })
      working.catch(() => {})
      await trial.until('the work has begun', () => isWorking)
      const other = await trial.create({})
      const refused = other.run(trial.name, () => assert.fail('two works at once'))
      await assert.rejects(trial.during(refused), (error) => {
        assert(error instanceof LeaseHeldError)
        assert.equal(error.holder, place.leaseOptions.owner)
        return true
      })
      await trial.during(holder.close())
    },

    'a work that fails leaves the key to the next caller': async (trial) => {
      const once = await trial.create({})
      const failing = once.run(trial.name, () => Promise.reject(new Error('no paper')))
      await assert.rejects(trial.during(failing), /no paper/)
      const other = await trial.create({})
      assert.equal(await trial.during(other.run(trial.name, async () => 'done', forever)), 'done')
    },

    'a holder that dies leaves the key to the next caller, under a larger token': async (trial) => {
      const place = await trial.place()
      const holder = await trial.create({}, place)
      const tokens: bigint[] = []
      let signal: AbortSignal | undefined
      const lost = holder.run(trial.name, (held) => {
        tokens.push(held.fencingToken)
        signal = held.signal
        return endless()
      })
      const rejected = assert.rejects(lost, LeaseLostError)
      await trial.until('the work has begun', () => tokens.length > 0)
      const waiter = await trial.create({})
      const next = waiter.run(
        trial.name,
        async ({ fencingToken }) => {
          assert.equal(signal?.aborted, true)
          tokens.push(fencingToken)
          return 'by the next'
        },
        forever,
      )
      place.cutOff()
      assert.equal(await trial.during(next), 'by the next')
      await trial.during(rejected)
      assert(tokens[0] !== undefined && tokens[1] !== undefined && tokens[0] < tokens[1])
    },

    'the name is not free before the mark is confirmed': async (trial) => {
      const place = await trial.place()
      const holder = await trial.create({}, place)
      let isOver = false
      const marking = holder.run(trial.name, async () => {
        place.cutOff()
        isOver = true
        return 'first'
      })
      await trial.until('the work is over', () => isOver)
      const other = await trial.create({})
      const refused = other.run(trial.name, () => assert.fail('the work was done again'))
      await assert.rejects(trial.during(refused), LeaseHeldError)
      const waiting = other.run(trial.name, () => assert.fail('the work was done again'), forever)
      place.heal()
      assert.deepEqual(await trial.during(Promise.all([marking, waiting])), ['first', 'first'])
    },

    'a work whose mark cannot be confirmed has an unknown outcome, and is done again': async (trial) => {
      const place = await trial.place()
      const holder = await trial.create({}, place)
      const unknown = holder.run(trial.name, async () => {
        place.cutOff()
        return 'first'
      })
      await assert.rejects(trial.during(unknown), LeaseUnavailableError)
      const other = await trial.create({})
      assert.equal(await trial.during(other.run(trial.name, async () => 'second', forever)), 'second')
      place.heal()
      assert.equal(await trial.during(holder.run(trial.name, async () => 'third', forever)), 'second')
    },

    'a mark that was written although its answer was lost counts': async (trial) => {
      const place = await trial.place()
      const once = await trial.create({}, place)
      place.store.inject({ kind: 'fail-after' }, 'update')
      assert.equal(await trial.during(once.run(trial.name, async () => 'first')), 'first')
      const other = await trial.create({})
      assert.equal(await trial.during(other.run(trial.name, async () => 'second', forever)), 'first')
    },

    'a mark outlives later holders of the name': async (trial) => {
      const once = await trial.create({})
      await trial.during(once.run(trial.name, async () => 'first'))
      const place = await trial.place()
      const lease = createLease(place.store, trial.name, place.leaseOptions)
      assert.equal(await trial.during(lease.acquire(forever)), true)
      await trial.during(lease.release())
      assert.equal(await trial.during(once.run(trial.name, async () => 'second', forever)), 'first')
    },

    'an outcome that cannot be kept is dropped, and the work is not done again': async (trial) => {
      for (const [part, outcome] of Object.entries({ large: 'x'.repeat(100_000), text: 1n })) {
        const key = `${trial.name}-${part}`
        let works = 0
        const work = async (): Promise<unknown> => {
          works += 1
          return outcome
        }
        const first = await trial.create({})
        await assert.rejects(trial.during(first.run(key, work)), LeaseConfigurationError)
        const later = await trial.create({})
        await assert.rejects(trial.during(later.run(key, work, forever)), LeaseConfigurationError)
        assert.equal(works, 1)
      }
    },

    'closing aborts the work, and leaves the key to the next caller at once': async (trial) => {
      const holder = await trial.create({})
      let signal: AbortSignal | undefined
      const working = holder.run(trial.name, (held) => {
        signal = held.signal
        return endless()
      })
      const rejected = assert.rejects(working, LeaseLostError)
      await trial.until('the work has begun', () => signal !== undefined)
      await trial.during(holder.close())
      await trial.during(rejected)
      assert.equal(signal?.aborted, true)
      await assert.rejects(
        holder.run(trial.name, async () => 'late'),
        LeaseUnavailableError,
      )
      const other = await trial.create({})
      assert.equal(
        await trial.during(
          other.run(trial.name, async () => 'next'),
          trial.ttl,
        ),
        'next',
      )
    },
  }),
]
