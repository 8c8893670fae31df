import { untilAborted } from '@leasehold/core/store-kit'
import type { ClientAdapter } from './connection.js'
import type { PostgresJs, PostgresJsQuery } from './postgres-client.js'

export function postgresJsAdapter(sql: PostgresJs): ClientAdapter {
  return {
    connections: sql.options?.max,
    async run(text, call) {
      if (call.aborted) throw call.signal.reason
      const query = sql.unsafe(text)
      const answer = new Promise<readonly unknown[]>((resolve, reject) => query.then(resolve, reject))
      const removeListener = call.onAbort(() => takeBack(query))
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
 * Takes back a statement that still waits for a connection: another one, which does nothing, is sent in its place. A
 * statement that was sent already ends by itself.
 *
 * The library can cancel a statement, but then breaks its connection for all others: a connection that was opened for the
 * statement is never used, and a busy one mixes up the answers of all later statements.
 */
function takeBack(query: PostgresJsQuery): void {
  // The library reads the text when it sends it.
  if ('strings' in query) Object.assign(query, { strings: ['select 1'] })
}
