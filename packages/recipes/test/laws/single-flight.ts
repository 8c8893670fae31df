import assert from 'node:assert/strict'
import { LeaseConfigurationError, LeaseLostError, LeaseUnavailableError } from '@leasehold/core'
import { type RecipeTrial, recipeLawsWith } from './recipe-trial.js'

interface RefreshingUnderLaw {
  readonly signal: AbortSignal
  readonly fencingToken: bigint
  readonly previous: unknown
  readonly interrupted: boolean
}

/** The part of `SingleFlight` that its laws use. */
export interface SingleFlightUnderLaw {
  get(
    key: string,
    refresh: (refreshing: RefreshingUnderLaw) => Promise<unknown>,
    options: { readonly freshFor: number; readonly staleFor?: number },
  ): Promise<unknown>
  read(key: string): Promise<{ readonly value: unknown; readonly state: string; readonly owner: string } | undefined>
  forget(key: string): Promise<void>
  stop(): Promise<void>
}

const forever = { freshFor: Number.POSITIVE_INFINITY }

/** A value that is expired as soon as it is written. */
const once = { freshFor: 0 }

const notAgain = (): never => assert.fail('it was refreshed again')

/** A refresh that lasts until the law ends it. */
function pendingRefresh() {
  let begin = (_: { readonly held: RefreshingUnderLaw; end(value: string): void }): void => {}
  const begun = new Promise<Parameters<typeof begin>[0]>((resolve) => {
    begin = resolve
  })
  return { begun, run: (held: RefreshingUnderLaw) => new Promise<string>((end) => begin({ held, end })) }
}

/** The laws get two callers in processes of their own, and the place of the first one. */
const lawsOf = recipeLawsWith(async (trial: RecipeTrial<SingleFlightUnderLaw, Record<never, never>>) => {
  const place = await trial.place()
  return [await trial.create({}, place), await trial.create({}), place]
})

/** The laws of `SingleFlight`. The lease of a key has the key as its name, and its ttl is that of the place. */
export const singleFlightLaws = [
  ...lawsOf(['metadata'], {
    'one process refreshes, and every caller of every process gets the value': async (trial, one, other, place) => {
      let refreshes = 0
      const refresh = async (): Promise<unknown> => {
        refreshes += 1
        await new Promise((resolve) => place.leaseOptions.clock?.schedule(trial.ttl / 5, () => resolve(undefined)))
        return { refreshes }
      }
      const callers = [one, other, await trial.create({})]
      const together = callers.flatMap((flight) => [
        flight.get(trial.name, refresh, forever),
        flight.get(trial.name, refresh, forever),
      ])
      assert.deepEqual(await trial.during(Promise.all(together), 10 * trial.ttl), Array(6).fill({ refreshes: 1 }))
      assert.equal(refreshes, 1)
    },

    'while a value is fresh, nothing is refreshed': async (trial, flight, _, place) => {
      assert.equal(await trial.during(flight.read(trial.name)), undefined)
      assert.deepEqual(await trial.during(flight.get(trial.name, async () => ['a', 1], forever)), ['a', 1])
      for (const later of [flight, await trial.create({})]) {
        assert.deepEqual(await trial.during(later.get(trial.name, notAgain, forever)), ['a', 1])
        const { value, state, owner } = (await trial.during(later.read(trial.name))) ?? assert.fail('it is gone')
        assert.deepEqual({ value, state, owner }, { value: ['a', 1], state: 'fresh', owner: place.leaseOptions.owner })
      }
    },

    'while a value is stale, callers get it at once, and one process refreshes it behind them': async (
      trial,
      one,
      other,
    ) => {
      const times = { freshFor: 0, staleFor: 10_000 * trial.ttl }
      await trial.during(one.get(trial.name, async () => 'old', times))
      const { run, begun } = pendingRefresh()
      assert.equal(await trial.during(one.get(trial.name, run, forever)), 'old')
      const refresh = await trial.during(begun)
      assert.equal(refresh.held.previous, 'old')
      assert.equal(await trial.during(one.get(trial.name, notAgain, forever)), 'old')
      assert.equal(await trial.during(other.get(trial.name, notAgain, forever)), 'old')
      refresh.end('new')
      let value: unknown
      const look = async (): Promise<void> => {
        value = (await one.read(trial.name))?.value
      }
      for (let looks = 0; value !== 'new'; looks += 1) {
        assert(looks < 250, 'the value is not refreshed')
        await trial.during(look())
        await trial.pass(trial.ttl / 50)
      }
    },

    'a refresh that fails leaves the value before to the next caller': async (trial, one, other) => {
      await trial.during(one.get(trial.name, async () => 'old', once))
      const failing = one.get(trial.name, () => Promise.reject(new Error('no paper')), once)
      await assert.rejects(trial.during(failing), /no paper/)
      const refresh = async ({ previous, interrupted }: RefreshingUnderLaw) => ({ previous, interrupted })
      const next = await trial.during(other.get(trial.name, refresh, once))
      assert.deepEqual(next, { previous: 'old', interrupted: false })
    },

    'a holder that dies leaves an interrupted refresh to the next caller, under a larger token': async (
      trial,
      holder,
      waiter,
      place,
    ) => {
      await trial.during(holder.get(trial.name, async () => 'old', once))
      const { run, begun } = pendingRefresh()
      const rejected = assert.rejects(holder.get(trial.name, run, once), LeaseLostError)
      const { held } = await trial.during(begun)
      assert.equal(held.interrupted, false)
      const refresh = async (refreshing: RefreshingUnderLaw): Promise<unknown> => {
        assert.equal(held.signal.aborted, true)
        assert(held.fencingToken < refreshing.fencingToken)
        assert.deepEqual([refreshing.previous, refreshing.interrupted], ['old', true])
        return 'by the next'
      }
      const next = waiter.get(trial.name, refresh, forever)
      place.cutOff()
      assert.equal(await trial.during(next), 'by the next')
      await trial.during(rejected)
    },

    'a refresh does not begin before the record says so': async (trial, holder, _, place) => {
      // More than the attempts of a whole ttl.
      for (let count = 0; count < 100; count += 1) place.store.inject({ kind: 'hang' }, 'update')
      let isBegun = false
      const refresh = async (): Promise<void> => {
        isBegun = true
      }
      const get = holder.get(trial.name, refresh, forever)
      await assert.rejects(trial.during(get))
      assert.equal(isBegun, false)
    },

    'a value that cannot be confirmed has an unknown outcome, and no later refresh takes it for ended': async (
      trial,
      holder,
      other,
      place,
    ) => {
      const unknown = holder.get(
        trial.name,
        async () => {
          place.cutOff()
          return 'first'
        },
        forever,
      )
      await assert.rejects(trial.during(unknown), LeaseUnavailableError)
      const refresh = async ({ interrupted }: RefreshingUnderLaw) => ({ interrupted })
      assert.deepEqual(await trial.during(other.get(trial.name, refresh, forever)), { interrupted: true })
      place.heal()
      assert.deepEqual(await trial.during(holder.get(trial.name, notAgain, forever)), { interrupted: true })
    },

    'a value that was written although its answer was lost counts': async (trial, flight, other, place) => {
      const refresh = async (): Promise<string> => {
        place.store.inject({ kind: 'fail-after' }, 'update')
        return 'first'
      }
      assert.equal(await trial.during(flight.get(trial.name, refresh, forever)), 'first')
      assert.equal(await trial.during(other.get(trial.name, notAgain, forever)), 'first')
    },

    'a value that cannot be kept is not written': async (trial, flight, other) => {
      for (const [part, value] of Object.entries({ large: 'x'.repeat(100_000), text: 1n, none: undefined })) {
        const key = `${trial.name}-${part}`
        await assert.rejects(trial.during(flight.get(key, async () => value, forever)), LeaseConfigurationError)
        assert.equal(await trial.during(other.get(key, async () => 'small', forever)), 'small')
      }
    },

    'a value that was forgotten is refreshed without it': async (trial, one, other) => {
      await trial.during(one.get(trial.name, async () => 'old', forever))
      await trial.during(one.forget(trial.name))
      const refresh = async ({ previous = 'none' }: RefreshingUnderLaw) => previous
      assert.equal(await trial.during(other.get(trial.name, refresh, forever)), 'none')
    },

    'stopping lets a refresh write its value, and leaves the key to the next caller at once': async (
      trial,
      holder,
      other,
    ) => {
      const { run, begun } = pendingRefresh()
      const value = holder.get(trial.name, run, once)
      const { held, end } = await trial.during(begun)
      const stopped = holder.stop()
      await trial.pass(trial.ttl / 20)
      assert.equal(held.signal.aborted, false)
      end('last')
      await trial.during(Promise.all([stopped, value]))
      await assert.rejects(holder.get(trial.name, notAgain, once), LeaseUnavailableError)
      const next = other.get(trial.name, async ({ previous }) => ({ previous }), once)
      assert.deepEqual(await trial.during(next, trial.ttl), { previous: 'last' })
    },
  }),
]
