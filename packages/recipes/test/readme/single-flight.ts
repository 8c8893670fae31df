// #region prices
import type { LeaseStore } from '@leasehold/core'
import { SingleFlight } from '@leasehold/recipes'

/** Every instance asks for the rates as often as it likes. One of them loads them, at most once a minute. */
export function createRates(store: LeaseStore, load: (signal: AbortSignal) => Promise<Record<string, number>>) {
  const flight = new SingleFlight(store, { name: 'rates' })
  return async (currency: string) =>
    await flight.get(currency, ({ signal }) => load(signal), { freshFor: 60_000, staleFor: 10 * 60_000 })
}

// #endregion prices

// #region place
import type { SingleFlightPlace } from '@leasehold/recipes'

/** Keeps the values in a table of your own: `INSERT … ON CONFLICT … DO UPDATE … WHERE row.token < excluded.token`. */
export function inTable(table: {
  select(key: string): Promise<{ value: unknown } | undefined>
  /** Resolves with the number of rows that it has changed. */
  upsertIfNewer(key: string, value: unknown, token: bigint): Promise<number>
}): SingleFlightPlace {
  return {
    read: async (key) => (await table.select(key))?.value,
    write: async (key, value, token) => {
      if ((await table.upsertIfNewer(key, value, token)) === 0) throw new Error('a later value was written')
    },
  }
}
// #endregion place
