import type { StoreCall } from '@leasehold/core/store'
import type { ConsulAnswer } from './consul-answer.js'

export interface ConsulRequest {
  readonly method: 'GET' | 'PUT'
  /** Below `/v1`, such as `/kv/leasehold/orders`. */
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: string
  /** Whether the agent answers only after a change. Such requests have connections of their own. */
  readonly blocking?: boolean
  /** Whether it must not be applied twice: it is sent again only if it certainly did not arrive. */
  readonly once?: boolean
}

/** What every request has. */
export interface Standing {
  readonly headers: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
}

/** How requests reach an agent: over connections of ours, or over those of the user. */
export interface ConsulTransport {
  /** Rejects with any error if no answer comes or the call is aborted; the request may have been applied then. */
  exchange(address: URL, request: ConsulRequest, call: StoreCall): Promise<ConsulAnswer>
  /** Ends all requests, and the connections that are not the user's. */
  close(): void
}

/** The path and the query of a request, as they follow the host. */
export function targetOf(address: URL, { path, query }: ConsulRequest, common: Standing['query']): string {
  const search = new URLSearchParams({ ...query, ...common }).toString()
  return `${address.pathname.replace(/\/$/, '')}/v1${path}${search === '' ? '' : `?${search}`}`
}

/**
 * Whether to send the request again, because the agent had probably closed the kept connection on which it was sent. The agent
 * may have ended after it got the request, too.
 */
export function isWorthRepeating({ once = false }: ConsulRequest, { code }: NodeJS.ErrnoException): boolean {
  return !once && (code === 'ECONNRESET' || code === 'EPIPE' || code === 'UND_ERR_SOCKET')
}
