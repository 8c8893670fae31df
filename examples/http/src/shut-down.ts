// #region shut-down
import type { Parts } from './parts.js'

/** The part of a server that is needed to close it: those of `node:http`, Express and Hono have it. */
interface ClosableServer {
  close(onClosed: () => void): unknown
  closeAllConnections?(): void
}

/** Ends all parts, each before the parts that it needs. Never rejects. */
export async function shutDown(server: ClosableServer, { schedule, election, store }: Parts): Promise<void> {
  // No more ticks. The signal of the work in progress aborts. Meanwhile, requests keep their leases.
  const scheduleEnded = schedule.stop()
  const serverClosed = new Promise<void>((resolve) => server.close(resolve))
  // A request that takes longer is cut off.
  const limit = setTimeout(() => server.closeAllConnections?.(), 10_000)
  await Promise.allSettled([scheduleEnded, serverClosed])
  clearTimeout(limit)
  // After the last request: until now, a leader could answer as the leader.
  await election.stop().catch(console.error)
  await store.close().catch(console.error)
}

/** Call it once the server is made. */
export function shutDownOnSignals(server: ClosableServer, parts: Parts): void {
  let isEnding = false
  const end = (): void => {
    if (isEnding) return
    isEnding = true
    void shutDown(server, parts).finally(() => process.exit())
  }
  process.on('SIGTERM', end).on('SIGINT', end)
}
// #endregion shut-down
