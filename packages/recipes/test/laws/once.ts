import assert from 'node:assert/strict'
import {
  createLease,
  LeaseConfigurationError,
  LeaseHeldError,
  LeaseLostError,
  LeaseUnavailableError,
} from '@leasehold/core'
import { PendingWork } from '../../../testkit/src/laws/pending-work.js'
import { type RecipeTrial, recipeLawsWith } from './recipe-trial.js'

/** The part of `Once` that its laws use. */
export interface OnceUnderLaw {
  run(
    key: string,
    work: (held: { readonly signal: AbortSignal; readonly fencingToken: bigint }) => Promise<unknown>,
    options?: { readonly wait?: number },
  ): Promise<unknown>
  read(key: string): Promise<{ readonly outcome: unknown; readonly owner: string } | undefined>
  stop(): Promise<void>
}

export interface OnceLawOptions {
  readonly expiresAfter?: number
}

const forever = { wait: Number.POSITIVE_INFINITY }

const notAgain = (): never => assert.fail('the work was done again')

const pendingWork = () => new PendingWork<Parameters<Parameters<OnceUnderLaw['run']>[1]>[0]>()

/** The laws get two callers in processes of their own, and the place of the first one. */
const lawsOf = recipeLawsWith(async (trial: RecipeTrial<OnceUnderLaw, OnceLawOptions>) => {
  const place = await trial.place()
  return [await trial.create({}, place), await trial.create({}), place]
})

/** The laws of `Once`. The lease of a key has the key as its name, and its ttl is that of the place. */
export const onceLaws = [
  ...lawsOf(['metadata'], {
    'the work of a key is done once, and every caller gets its outcome': async (trial, one, other, place) => {
      let works = 0
      const work = async (): Promise<unknown> => {
        works += 1
        await new Promise((resolve) => place.leaseOptions.clock?.schedule(trial.ttl / 5, () => resolve(undefined)))
        return { works }
      }
      const callers = [one, other, await trial.create({})]
      const together = callers.flatMap((once) => [
        once.run(trial.name, work, forever),
        once.run(trial.name, work, forever),
      ])
      const outcomes = await trial.during(Promise.all(together), 10 * trial.ttl)
      assert.deepEqual(outcomes, Array(6).fill({ works: 1 }))
      assert.equal(works, 1)
    },

    'later callers get the outcome that was left, and start nothing': async (trial, once, _, place) => {
      assert.equal(await trial.during(once.read(trial.name)), undefined)
      assert.deepEqual(await trial.during(once.run(trial.name, async () => ['a', 1])), ['a', 1])
      for (const later of [once, await trial.create({})]) {
        assert.deepEqual(await trial.during(later.run(trial.name, notAgain)), ['a', 1])
        const { owner } = place.leaseOptions
        assert.deepEqual(await trial.during(later.read(trial.name)), { outcome: ['a', 1], owner })
      }
    },

    'an outcome that is undefined is kept, too': async (trial, once) => {
      assert.equal(await trial.during(once.run(trial.name, async () => undefined)), undefined)
      assert.equal(await trial.during(once.run(trial.name, notAgain)), undefined)
    },

    'two keys are done independently of each other': async (trial, once) => {
      const [one, other] = [`${trial.name}-1`, `${trial.name}-2`]
      const nested = once.run(one, () => once.run(other, async () => 'inner'))
      assert.equal(await trial.during(nested), 'inner')
    },

    'a caller that does not wait is refused, with the holder': async (trial, holder, other, place) => {
      const { run, begun } = pendingWork()
      holder.run(trial.name, run).catch(() => {})
      await trial.during(begun)
      const refused = other.run(trial.name, () => assert.fail('two works at once'))
      await assert.rejects(trial.during(refused), { name: 'LeaseHeldError', holder: place.leaseOptions.owner })
      await trial.during(holder.stop())
    },

    'a work that fails leaves the key to the next caller': async (trial, once, other) => {
      const failing = once.run(trial.name, () => Promise.reject(new Error('no paper')))
      await assert.rejects(trial.during(failing), /no paper/)
      assert.equal(await trial.during(other.run(trial.name, async () => 'done', forever)), 'done')
    },

    'a holder that dies leaves the key to the next caller, under a larger token': async (
      trial,
      holder,
      waiter,
      place,
    ) => {
      const { run, begun } = pendingWork()
      const rejected = assert.rejects(holder.run(trial.name, run), LeaseLostError)
      const { held } = await trial.during(begun)
      const work = async ({ fencingToken }: typeof held): Promise<string> => {
        assert.equal(held.signal.aborted, true)
        assert(held.fencingToken < fencingToken)
        return 'by the next'
      }
      const next = waiter.run(trial.name, work, forever)
      place.cutOff()
      assert.equal(await trial.during(next), 'by the next')
      await trial.during(rejected)
    },

    'the name is not free before the mark is confirmed': async (trial, holder, other, place) => {
      let isOver = false
      const marking = holder.run(trial.name, async () => {
        place.cutOff()
        isOver = true
        return 'first'
      })
      await trial.until('the work is over', () => isOver)
      await assert.rejects(trial.during(other.run(trial.name, notAgain)), LeaseHeldError)
      const waiting = other.run(trial.name, notAgain, forever)
      place.heal()
      assert.deepEqual(await trial.during(Promise.all([marking, waiting])), ['first', 'first'])
    },

    'a work whose mark cannot be confirmed has an unknown outcome, and is done again': async (
      trial,
      holder,
      other,
      place,
    ) => {
      const unknown = holder.run(trial.name, async () => {
        place.cutOff()
        return 'first'
      })
      await assert.rejects(trial.during(unknown), LeaseUnavailableError)
      assert.equal(await trial.during(other.run(trial.name, async () => 'second', forever)), 'second')
      place.heal()
      assert.equal(await trial.during(holder.run(trial.name, async () => 'third', forever)), 'second')
    },

    'a mark that was written although its answer was lost counts': async (trial, once, other, place) => {
      place.store.inject({ kind: 'fail-after' }, 'update')
      assert.equal(await trial.during(once.run(trial.name, async () => 'first')), 'first')
      assert.equal(await trial.during(other.run(trial.name, async () => 'second', forever)), 'first')
    },

    'a mark outlives later holders of the name': async (trial, once) => {
      await trial.during(once.run(trial.name, async () => 'first'))
      const place = await trial.place()
      const lease = createLease(place.store, trial.name, place.leaseOptions)
      assert.equal(await trial.during(lease.acquire(forever)), true)
      await trial.during(lease.release())
      assert.equal(await trial.during(once.run(trial.name, async () => 'second', forever)), 'first')
    },

    'an outcome that has expired is forgotten, and the work is done again once': async (trial, first) => {
      await trial.during(first.run(trial.name, async () => 'first'))
      await trial.pass(trial.ttl / 2)
      const expiresAfter = trial.ttl / 4
      const [one, other] = [await trial.create({ expiresAfter }), await trial.create({ expiresAfter: 100 * trial.ttl })]
      assert.equal(await trial.during(other.run(trial.name, notAgain)), 'first')
      assert.equal(await trial.during(one.read(trial.name)), undefined)
      assert.equal(await trial.during(one.run(trial.name, async () => 'second', forever)), 'second')
      assert.equal(await trial.during(other.run(trial.name, notAgain, forever)), 'second')
    },

    'an outcome that cannot be kept is dropped, and the work is not done again': async (trial, first, later) => {
      for (const [part, outcome] of Object.entries({ large: 'x'.repeat(100_000), text: 1n })) {
        const key = `${trial.name}-${part}`
        let works = 0
        const work = async (): Promise<unknown> => {
          works += 1
          return outcome
        }
        await assert.rejects(trial.during(first.run(key, work)), LeaseConfigurationError)
        await assert.rejects(trial.during(later.run(key, work, forever)), LeaseConfigurationError)
        assert.equal(works, 1)
      }
    },

    'closing aborts the work, and leaves the key to the next caller at once': async (trial, holder, other) => {
      const { run, begun } = pendingWork()
      const rejected = assert.rejects(holder.run(trial.name, run), LeaseLostError)
      const { signal } = (await trial.during(begun)).held
      await trial.during(holder.stop())
      await trial.during(rejected)
      assert.equal(signal.aborted, true)
      const late = holder.run(trial.name, async () => 'late')
      await assert.rejects(late, LeaseUnavailableError)
      const next = other.run(trial.name, async () => 'next')
      assert.equal(await trial.during(next, trial.ttl), 'next')
    },
  }),
]
