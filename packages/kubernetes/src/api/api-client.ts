import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { AbortListeners, type Clock } from '@leasehold/core'
import { type ApiAnswer, toAnswer } from './api-answer.js'
import { ApiConnection, type ConnectionUse, UnansweredError } from './api-connection.js'
import type { ApiRequest } from './api-request.js'
import { withFreshCredentials } from './credentials.js'
import { unanswered } from './failures.js'
import type { KubeConfigLike } from './kube-config.js'

/** What a server that asks for patience, but does not say how much, is given, in milliseconds. */
const DEFAULT_PATIENCE = 1_000

/** However little it asks for, in milliseconds. */
const LEAST_PATIENCE = 100

/** Requests to one API server. They reject with the reason of their signal as soon as it aborts. */
export class ApiClient {
  readonly #load: () => Promise<KubeConfigLike>
  readonly #clock: Clock
  readonly #aborts = new AbortListeners()
  readonly #connection = new ApiConnection(this.#aborts)
  #config: Promise<KubeConfigLike> | undefined

  /** `load`: where the configuration comes from, once it is needed. */
  constructor(load: () => Promise<KubeConfigLike>, clock: Clock) {
    this.#load = load
    this.#clock = clock
  }

  /** The configuration as it is in use; a failure to load it is not kept. */
  config(): Promise<KubeConfigLike> {
    if (this.#config === undefined) {
      const loading = this.#load()
      this.#config = loading
      loading.catch(() => {
        if (this.#config === loading) this.#config = undefined
      })
    }
    return this.#config
  }

  /**
   * The answer, whatever its status. What the server did not look at is sent again: with a fresh token after one 401,
   * after a pause when it had too much to do, and on a new connection where it had closed the one that was kept.
   * Rejects with a `LeaseError` where there is no answer: whether the request took effect is then unknown.
   */
  async send(request: ApiRequest, signal: AbortSignal): Promise<ApiAnswer> {
    let isFresh = false
    for (;;) {
      const answer = await this.#exchange(request, signal)
      if (answer.status === 429) {
        await this.pause(Math.max(answer.retryAfter ?? DEFAULT_PATIENCE, LEAST_PATIENCE), signal)
      } else if (answer.status === 401 && !isFresh) {
        isFresh = true
        await this.#refresh()
      } else {
        return answer
      }
    }
  }

  /**
   * An answer that goes on, as the lines of which it consists; of a failure, the answer. The lines end with it, and when
   * the signal aborts; they keep no process alive, and fail where the connection breaks.
   */
  async open(request: ApiRequest, signal: AbortSignal): Promise<ApiAnswer | AsyncIterable<string>> {
    const response = await this.#send(request, 'own', signal)
    if (response.statusCode === 200) return this.#linesOf(response, signal)
    const answer = await this.#read(response, signal)
    // Whoever begins anew then does so with a fresh token.
    if (answer.status === 401) await this.#refresh()
    return answer
  }

  async *#linesOf(response: IncomingMessage, signal: AbortSignal): AsyncGenerator<string> {
    response.socket.unref()
    const unlisten = this.#aborts.add(signal, () => response.destroy())
    try {
      let rest = ''
      for await (const chunk of response.setEncoding('utf8')) {
        const lines = (rest + chunk).split('\n')
        rest = lines.pop() ?? ''
        yield* lines.filter((line) => line !== '')
      }
    } catch (error) {
      if (!signal.aborted) throw unanswered(error)
    } finally {
      unlisten()
      response.destroy()
    }
  }

  /** Rejects with the reason of the signal when it aborts before. */
  async pause(duration: number, signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const cancel = this.#clock.schedule(duration, () => {
        unlisten()
        resolve()
      })
      const unlisten = this.#aborts.add(signal, () => {
        cancel()
        reject(signal.reason)
      })
    })
  }

  close(): void {
    this.#connection.close()
  }

  async #exchange(request: ApiRequest, signal: AbortSignal): Promise<ApiAnswer> {
    return await this.#read(await this.#send(request, 'kept', signal), signal)
  }

  async #refresh(): Promise<void> {
    this.#config = Promise.resolve(withFreshCredentials(await this.config()))
  }

  async #read(response: IncomingMessage, signal: AbortSignal): Promise<ApiAnswer> {
    const unlisten = this.#aborts.add(signal, () => response.destroy())
    try {
      return toAnswer(response.statusCode ?? 0, response.headers, await text(response))
    } catch (error) {
      signal.throwIfAborted()
      throw unanswered(error)
    } finally {
      unlisten()
    }
  }

  async #send(request: ApiRequest, use: ConnectionUse, signal: AbortSignal): Promise<IncomingMessage> {
    const config = await this.config()
    signal.throwIfAborted()
    try {
      return await this.#connection.send(config, request, use, signal)
    } catch (error) {
      if (!(error instanceof UnansweredError)) throw error
      if (!error.stale) throw unanswered(error)
    }
    try {
      // Repeating a write does no harm: it depends on a version, or on there being no object.
      return await this.#connection.send(config, request, 'own', signal)
    } catch (error) {
      throw error instanceof UnansweredError ? unanswered(error) : error
    }
  }
}
