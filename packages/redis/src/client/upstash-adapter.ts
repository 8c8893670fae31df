import { misconfigured } from '../redis-options.js'
import type { ClientAdapter, Connection, Scan, ScriptCall } from './connection.js'
import { ServerReply } from './server-reply.js'
import { Traffic } from './traffic.js'

/** The part of `Redis` of @upstash/redis 1.35 and later that the store uses, beside its `Requester`. */
export interface UpstashClient {
  evalsha(sha: string, keys: string[], args: string[]): Promise<unknown>
  readYourWritesSyncToken: string | undefined
}

/** The `Requester` of a client: it sends commands over HTTP, and does not read their answers as JSON. */
interface Requester {
  request(request: { readonly body: readonly string[]; readonly signal?: AbortSignal }): Promise<{
    readonly result?: unknown
    readonly error?: string
  }>
  readonly headers?: object
  readonly hasCredentials?: boolean
}

export function isUpstash(client: object): client is UpstashClient {
  return 'readYourWritesSyncToken' in client && 'evalsha' in client
}

export function upstashAdapter(client: UpstashClient): ClientAdapter {
  const requester = requesterOf(client)
  return {
    clustered: false,
    subscribes: false,
    keyPrefix: '',
    newConnection: () => new UpstashConnection(requester),
    run: (call, signal) => {
      return send(requester, wordsOf(call), signal, (message, cause) => new ServerReply(message, { cause }))
    },
  }
}

function requesterOf(client: UpstashClient): Requester {
  const { client: requester } = client as { readonly client?: Requester }
  if (typeof requester?.request !== 'function') {
    throw misconfigured('the client of @upstash/redis has no requester: use Redis of @upstash/redis 1.35 or later')
  }
  if (requester.hasCredentials === false) {
    throw misconfigured(
      'the client of @upstash/redis has no URL or no token: set UPSTASH_REDIS_REST_URL and UPSTASH_REDIS_REST_TOKEN ' +
        'before Redis.fromEnv(), or pass url and token',
    )
  }
  return requester
}

/**
 * The client must not repeat requests: the engine decides what is safe to repeat. Its headers are copied, because it writes
 * its sync token into them. With the sync token, a listing by a replica includes what this store has written.
 */
function withoutRetries(requester: Requester): Requester {
  return Object.create(requester, {
    retry: { value: { attempts: 0, backoff: () => 0 } },
    headers: { value: { ...requester.headers } },
    readYourWrites: { value: true },
    upstashSyncToken: { value: '', writable: true },
  }) as Requester
}

function wordsOf({ command, script, keys, args }: ScriptCall): string[] {
  return [command, script, String(keys.length), ...keys, ...args]
}

async function send(
  requester: Requester,
  body: readonly string[],
  signal: AbortSignal | undefined,
  toReply: (message: string, error: Error) => Error,
): Promise<unknown> {
  const answer = await requester.request(signal === undefined ? { body } : { body, signal }).catch((error: unknown) => {
    throw signal?.aborted ? signal.reason : toFailure(error, toReply)
  })
  // For an aborted request, the client resolves with the reason as if it were the result.
  if (signal?.aborted) throw signal.reason
  if (answer.error) throw toReply(answer.error, new Error(answer.error))
  return answer.result
}

/** The message of the client ends with the whole command, which is removed: it may have secrets in it. */
function toFailure(error: unknown, toReply: (message: string, error: Error) => Error): unknown {
  if (!(error instanceof Error)) return error
  if (error.name === 'UpstashError') {
    error.message = replyIn(error.message)
    return toReply(error.message, error)
  }
  // Of `fetch`, whose own message says nothing.
  if (error instanceof TypeError && error.cause instanceof Error) return error.cause
  return error
}

function replyIn(message: string): string {
  const end = message.indexOf(', command was: ')
  const reply = end < 0 ? message : message.slice(0, end)
  return /^unauthorized/i.test(reply) ? `WRONGPASS ${reply}: the token is not that of the database` : reply
}

/** Requests over HTTP. Each of them stands alone, so that the connection never ends by itself. */
class UpstashConnection implements Connection {
  readonly traffic = new Traffic()
  readonly #requester: Requester
  readonly #over = new AbortController()

  constructor(requester: Requester) {
    this.#requester = withoutRetries(requester)
  }

  connect(): Promise<void> {
    return Promise.resolve()
  }

  nodeOf(_key: string): string {
    return ''
  }

  prepare(_key: string): Promise<unknown> | undefined {
    return undefined
  }

  run(call: ScriptCall, { signal }: { readonly signal: AbortSignal }): Promise<unknown> {
    return this.#send(wordsOf(call), AbortSignal.any([signal, this.#over.signal]))
  }

  scans(): Promise<readonly Scan[]> {
    return Promise.resolve([
      (cursor, pattern, count) =>
        this.#send(['SCAN', cursor, 'MATCH', pattern, 'COUNT', String(count)], this.#over.signal),
    ])
  }

  subscribe(): Promise<unknown> {
    return Promise.reject(new Error('@upstash/redis has no subscription for this store'))
  }

  onEnd(callback: () => void): void {
    if (this.#over.signal.aborted) callback()
    else this.#over.signal.addEventListener('abort', callback, { once: true })
  }

  destroy(): void {
    this.#over.abort(new Error('the connection was closed'))
  }

  #send(body: readonly string[], signal: AbortSignal): Promise<unknown> {
    return send(this.#requester, body, signal, (message) => new ServerReply(message))
  }
}
