import { untilAborted } from '@leasehold/core/store'
import type { ClientAdapter } from './connection.js'
import type { PostgresJs } from './postgres-client.js'

export function postgresJsAdapter(sql: PostgresJs): ClientAdapter {
  return {
    connections: sql.options?.max,
    async run(text, call) {
      if (call.aborted) throw call.signal.reason
      const query = sql.unsafe(text)
      const removeListener = call.onAbort(() => query.cancel())
      try {
        return await untilAborted(Promise.resolve(query), call)
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
