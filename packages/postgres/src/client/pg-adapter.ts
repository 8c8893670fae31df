import { SpareConnections } from '@leasehold/core/sql-kit'
import { AbortableCall, type StoreCall } from '@leasehold/core/store'
import { untilAborted } from '@leasehold/core/store-kit'
import { sqlStateOf } from '../failure-of.js'
import type { ClientAdapter, NotificationEvents, Notifications, OpenSession } from './connection.js'
import type { PgClient, PgPool, PgPoolClient } from './postgres-client.js'

/** A client that the adapter creates as the pool does. */
interface OwnClient extends PgClient {
  connect(): Promise<unknown>
  end(): Promise<unknown>
  readonly processID?: number | null
  unref?(): void
}

/** Each statement takes a connection from the pool and gives it back; a broken, silent or read-only one leaves the pool. */
export function pgPoolAdapter(pool: PgPool): ClientAdapter {
  const connections = new SpareConnections(() => connectionOf(pool), giveBack)

  async function runOn(texts: readonly string[], call: StoreCall): Promise<readonly unknown[]> {
    if (call.aborted) throw call.signal.reason
    const client = await connections.take(call)
    let rows: readonly unknown[] = []
    let broken: Error | undefined
    try {
      for (const text of texts) rows = (await untilAborted(client.query(text), call)).rows
      return rows
    } catch (error) {
      if (call.aborted || !isUsable(error)) broken = new Error('the statement has failed', { cause: error })
      throw error
    } finally {
      giveBack(client, broken)
    }
  }

  return {
    connections: pool.options?.max,
    run: (text, call) => runOn([text], call),
    tryTransaction: async (call) => void (await runOn(['begin', 'rollback'], call)),
    ...('options' in pool && 'Client' in pool && typeof pool.Client === 'function'
      ? ownConnections(() => new (pool.Client as new (options: unknown) => OwnClient)(pool.options))
      : {}),
  }
}

/** The connections that are not of the pool. */
function ownConnections(create: () => OwnClient): Pick<ClientAdapter, 'listen' | 'openSession'> {
  return { listen: listenOver(create), openSession: sessionOver(create) }
}

/**
 * A connection of the pool, with a listener for errors: without one, the end of the connection would end the process. A
 * callback adds it in time. A promise would be too late: the end may come with the same bytes as the beginning.
 */
function connectionOf(pool: PgPool): Promise<PgPoolClient> {
  return new Promise((resolve, reject) => {
    pool.connect((error, client) => {
      if (client === undefined) return reject(error)
      client.on('error', ignore)
      resolve(client)
    })
  })
}

function giveBack(client: PgPoolClient, broken?: Error): void {
  client.release(broken)
  if (broken === undefined) client.removeListener('error', ignore)
  // The pool waits for the end of a connection, which a silent server does not confirm.
  else streamOf(client)?.destroy()
}

function ignore(): void {}

/** The last statement of each client: several stores may share one. */
const lastStatements = new WeakMap<PgClient, Promise<unknown>>()

/** Statements take turns: pg deprecates to send one while another is on its way, and will refuse it. */
export function pgClientAdapter(client: PgClient): ClientAdapter {
  /** A statement whose call is aborted before its turn is never sent. */
  async function run(text: string, call: StoreCall): Promise<readonly unknown[]> {
    const answered = (lastStatements.get(client) ?? Promise.resolve()).then(() => {
      if (call.aborted) throw call.signal.reason
      return client.query(text)
    })
    const settled = answered.catch(() => {})
    lastStatements.set(client, settled)
    const { rows } = await untilAborted(answered, call)
    return rows
  }

  return {
    connections: 1,
    run,

    async listen(channel, { onMessage, onEnd }, call) {
      const onNotification = messagesOf(channel, onMessage)
      client.on('notification', onNotification)
      client.on('end', onEnd)
      await run(`listen "${channel}"`, call)
      return {
        ping: () => Promise.resolve(),
        close: () => {
          client.removeListener('notification', onNotification)
          client.removeListener('end', onEnd)
          run(`unlisten "${channel}"`, new AbortableCall()).catch(() => {})
        },
      }
    },
  }
}

function listenOver(create: () => OwnClient): NonNullable<ClientAdapter['listen']> {
  return async (channel, { onMessage, onEnd }: NotificationEvents, call): Promise<Notifications> => {
    const client = create()
    let isOver = false
    const close = (): void => {
      isOver = true
      client.end().catch(() => {})
      streamOf(client)?.destroy()
    }
    const end = (): void => {
      if (isOver) return
      close()
      onEnd()
    }
    client.on('error', end)
    client.on('end', end)
    client.on('notification', messagesOf(channel, onMessage))
    try {
      await untilAborted(client.connect(), call)
      await untilAborted(client.query(`listen "${channel}"`), call)
    } catch (error) {
      close()
      throw error
    }
    return { ping: () => client.query('select 1'), close }
  }
}

function sessionOver(create: () => OwnClient): OpenSession {
  return async (call) => {
    const client = create()
    let isOver = false
    const end = (): void => {
      if (isOver) return
      isOver = true
      client.end().catch(() => {})
      streamOf(client)?.destroy()
    }
    client.on('error', end)
    client.on('end', end)
    try {
      await untilAborted(client.connect(), call)
    } catch (error) {
      end()
      throw error
    }
    // A lease that is held does not keep the process alive.
    client.unref?.()
    let last: Promise<unknown> = Promise.resolve()
    return {
      pid: client.processID ?? undefined,
      get isOver() {
        return isOver
      },
      run: (text) => {
        const answered = last.then(() => client.query(text))
        last = answered.catch(() => {})
        return answered.then(
          ({ rows }) => rows,
          (error) => {
            // The connection ends a moment after this answer.
            if (isEndOfSession(error)) end()
            throw error
          },
        )
      },
      close: end,
    }
  }
}

function messagesOf(channel: string, onMessage: (message: string) => void) {
  return (notification: unknown): void => {
    const message = notification as { readonly channel?: string; readonly payload?: string }
    if (message.channel === channel) onMessage(message.payload ?? '')
  }
}

/** Whether the connection can be used again after this error: the server has answered, and it can write. */
function isUsable(error: unknown): boolean {
  const state = sqlStateOf(error)
  return state !== undefined && state !== '25006' && !isEndOfSession(error) && !state.startsWith('08')
}

/** Whether the server has ended the session: an operator has, the server shuts down, or it was idle for too long. */
function isEndOfSession(error: unknown): boolean {
  return sqlStateOf(error)?.startsWith('57P') === true
}

function streamOf(client: object): { destroy(): void } | undefined {
  const { connection } = client as { connection?: { stream?: { destroy(): void } } }
  return connection?.stream
}
