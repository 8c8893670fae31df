import { untilAborted } from '@leasehold/core/store'
import type { ClientAdapter } from './connection.js'
import type { PostgresJs, PostgresJsQuery } from './postgres-client.js'

export function postgresJsAdapter(sql: PostgresJs): ClientAdapter {
  return {
    connections: sql.options?.max,
    async run(text, call) {
      if (call.aborted) throw call.signal.reason
      const query = sql.unsafe(text)
      const answer = new Promise<readonly unknown[]>((resolve, reject) => query.then(resolve, reject))
      const removeListener = call.onAbort(() => void takeBack(query))
      try {
        return await untilAborted(answer, call)
      } finally {
        removeListener()
      }
    },

    async listen(channel, { onMessage, onGap }, call) {
      // The library opens a connection for all channels, and again when it has ended.
      const listening = sql.listen(channel, onMessage, onGap)
      const close = (): void => {
        listening.then(({ unlisten }) => unlisten()).catch(() => {})
      }
      try {
        await untilAborted(listening, call)
      } catch (error) {
        close()
        throw error
      }
      return { ping: () => Promise.resolve(), close }
    },
  }
}

/**
 * Takes a statement back that waits for a connection. One that was sent ends by itself. The library sends statements to a
 * busy connection too, and if one of them is cancelled before its turn, the connection mixes up the answers of all later ones.
 */
async function takeBack(query: PostgresJsQuery): Promise<void> {
  // The library hands a statement to a connection in the next microtask.
  await undefined
  if (query.state === null) query.cancel()
}
