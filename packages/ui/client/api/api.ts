import type {
  BreakRequest,
  ErrorBody,
  HistoryAnswer,
  HistoryRequest,
  LeaseDetail,
  ScheduleRequest,
} from '../../src/protocol.js'
import { errorOf } from './error-of.js'
import type { PageFetch, PageRequest } from './page-fetch.js'

/** A request that the server refused, or that did not reach it. */
export class RequestError extends Error {
  override readonly name = 'RequestError'
  readonly code: string
  /** 0 if there was no answer. */
  readonly status: number

  constructor({ code, message }: ErrorBody, status: number) {
    super(message)
    this.code = code
    this.status = status
  }
}

export interface ApiOptions {
  readonly fetch: PageFetch
  readonly token: () => string | undefined
  readonly changeToken: () => string | undefined
  /** The server asks for another token. */
  readonly onLocked: (error: ErrorBody) => void
}

/** The requests beside the stream. Each rejects with a `RequestError`. */
export class Api {
  readonly #options: ApiOptions

  constructor(options: ApiOptions) {
    this.#options = options
  }

  lease(name: string): Promise<LeaseDetail> {
    return this.#send(`api/lease?name=${encodeURIComponent(name)}`, { method: 'GET', headers: {} })
  }

  history(request: HistoryRequest): Promise<HistoryAnswer> {
    return this.#post('api/history', request)
  }

  async break(request: BreakRequest): Promise<void> {
    await this.#post('api/break', request)
  }

  async schedule(request: ScheduleRequest): Promise<void> {
    await this.#post('api/schedule', request)
  }

  #post<T>(path: string, body: object): Promise<T> {
    const changeToken = this.#options.changeToken()
    return this.#send(path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: {
        'content-type': 'application/json',
        ...(changeToken !== undefined && { 'x-leasehold-change': changeToken }),
      },
    })
  }

  async #send<T>(path: string, init: Omit<PageRequest, 'cache'>): Promise<T> {
    const token = this.#options.token()
    const headers = { ...init.headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) }
    const response = await this.#options.fetch(path, { ...init, headers, cache: 'no-store' }).catch(() => {
      throw new RequestError({ code: 'connection', message: 'The server cannot be reached.' }, 0)
    })
    if (!response.ok) {
      const error = await errorOf(response)
      if (response.status === 401) this.#options.onLocked(error)
      throw new RequestError(error, response.status)
    }
    return (await response.json()) as T
  }
}
