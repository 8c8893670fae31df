// #region handler
import { LeaseError, LeaseHeldError, type LeaseStore } from '@leasehold/core'
import { Once } from '@leasehold/recipes'

/** Your work. `day` is the key: the report of a day is written once, however often the platform calls. */
export type WriteReport = (day: string, signal: AbortSignal, token: bigint) => Promise<string>

/** The handler of a cron job: `GET` of a route handler of Next.js, or the default export of a function elsewhere. */
export function dailyReport(store: LeaseStore, write: WriteReport): (request: Request) => Promise<Response> {
  // A minute is longer than the function may run. So no heartbeat is needed, and none is sent.
  const once = new Once(store, { name: 'daily-report', heartbeatTimeout: 60_000, strategy: 'manual' })
  return async (request) => {
    const day = new URL(request.url).searchParams.get('day') ?? new Date().toISOString().slice(0, 10)
    try {
      // When this resolves, the lease is released: nothing is left to do after the response.
      const report = await once.run(day, ({ signal, fencingToken }) => write(day, signal, fencingToken))
      return Response.json({ day, report })
    } catch (error) {
      if (error instanceof LeaseHeldError)
        return Response.json({ day, report: 'another call writes it' }, { status: 202 })
      if (error instanceof LeaseError) return Response.json({ error: error.message }, { status: 503 })
      throw error
    }
  }
}
// #endregion handler
