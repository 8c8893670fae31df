import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { systemClock } from '@leasehold/core'
import type { StoreCall } from '@leasehold/core/store'
import { pause } from '@leasehold/core/store-kit'
import { unanswered } from '../failure-of.js'
import type { KubernetesClusterOptions } from '../kubernetes-options.js'
import { type ApiAnswer, toAnswer } from './api-answer.js'
import { ApiConnection, type ConnectionUse } from './api-connection.js'
import type { ApiRequest } from './api-request.js'
import type { KubeConfigLike } from './kube-config.js'
import { loadKubeConfig, withFreshCredentials } from './load-kube-config.js'
import { podNamespace } from './pod-config.js'
import { RequestQueue } from './request-queue.js'

/** The pause after a 429 without a `Retry-After`, in milliseconds. */
const DEFAULT_PAUSE = 1_000

/** The shortest pause after a 429, whatever its `Retry-After` says, in milliseconds. */
const SHORTEST_PAUSE = 100

/** How many requests are under way at most, each on a connection of its own. At 20 ms each, they are 1,250 a second. */
const MOST_REQUESTS = 25

/** How many watches are being opened at most: each needs a new connection, and none is urgent. */
const MOST_OPENINGS = 5

/** After this time, in milliseconds, the next watch is opened anyway: a proxy may hold the head of an answer back. */
const LONGEST_OPENING = 1_000

/** Sends requests to one API server. They reject with the reason of the abort as soon as their call is aborted. */
export class ApiClient {
  readonly #options: KubernetesClusterOptions
  readonly #connection = new ApiConnection()
  readonly #requests = new RequestQueue(MOST_REQUESTS)
  readonly #openings = new RequestQueue(MOST_OPENINGS)
  #config: Promise<KubeConfigLike> | undefined
  #namespace: string | undefined

  /** The configuration is loaded when the first request is sent. */
  constructor(options: KubernetesClusterOptions) {
    this.#options = options
  }

  /** The given namespace; else that of the pod; else that of the kubeconfig's context; else `default`, as in kubectl. */
  async namespace(): Promise<string> {
    this.#namespace ??= this.#options.namespace ?? podNamespace(this.#options)
    if (this.#namespace === undefined) {
      const config = await this.#load()
      this.#namespace = config.getContextObject(config.getCurrentContext())?.namespace || 'default'
    }
    return this.#namespace
  }

  /** The configuration in use. When loading fails, the next call loads again. */
  #load(): Promise<KubeConfigLike> {
    const { kubeConfig } = this.#options
    this.#config ??= Promise.resolve(kubeConfig ?? loadKubeConfig(this.#options)).catch((error: unknown) => {
      this.#config = undefined
      throw error
    })
    return this.#config
  }

  /**
   * Resolves with the answer, whatever its status. Repeats a request that had no effect: with fresh credentials after the
   * first 401, after a pause on 429 that fits into half of the time limit, and on a new connection where the server had
   * closed the kept one. Rejects with a `LeaseError` when no answer comes: the outcome of the request is then unknown.
   */
  async send(request: ApiRequest, call: StoreCall): Promise<ApiAnswer> {
    const clock = this.#options.clock ?? systemClock
    const pauseUntil = clock.now() + call.timeout / 2
    let isFresh = false
    for (;;) {
      const answer = await this.#ask(request, call)
      const pause = Math.max(answer.retryAfter ?? DEFAULT_PAUSE, SHORTEST_PAUSE)
      // If the pause is too long, the caller gets the answer with its reason, which a time-out would not say.
      if (answer.status === 429 && clock.now() + pause <= pauseUntil) await this.pause(pause, call)
      else if (answer.status === 401 && !isFresh) {
        isFresh = true
        await this.#refresh()
      } else return answer
    }
  }

  /**
   * Opens a watch. Resolves with its lines, or with the answer when the server refuses. The lines end with the answer or
   * when the call is aborted, and reject when the connection breaks. An open watch does not keep the process alive.
   */
  async open(request: ApiRequest, call: StoreCall): Promise<ApiAnswer | AsyncIterable<string>> {
    const response = await this.#head(request, call)
    if (response.statusCode === 200) return this.#linesOf(response, call)
    const answer = await this.#read(response, call)
    // The caller's next attempt then has fresh credentials.
    if (answer.status === 401) await this.#refresh()
    return answer
  }

  /** Writes come first: they renew leases, or end a claim that was begun. */
  async #ask(request: ApiRequest, call: StoreCall): Promise<ApiAnswer> {
    const leave = await this.#requests.enter(request.method !== 'GET', call)
    try {
      return await this.#read(await this.#send(request, 'kept', call), call)
    } finally {
      leave()
    }
  }

  /** Resolves with the head of an answer whose body goes on. */
  async #head(request: ApiRequest, call: StoreCall): Promise<IncomingMessage> {
    const leave = await this.#openings.enter(false, call)
    const cancel = (this.#options.clock ?? systemClock).schedule(LONGEST_OPENING, leave)
    try {
      return await this.#send(request, 'own', call)
    } finally {
      cancel()
      leave()
    }
  }

  async *#linesOf(response: IncomingMessage, call: StoreCall): AsyncGenerator<string> {
    response.socket.unref()
    const unlisten = call.onAbort(() => response.destroy())
    try {
      let rest = ''
      for await (const chunk of response.setEncoding('utf8')) {
        const lines = (rest + chunk).split('\n')
        rest = lines.pop() ?? ''
        yield* lines.filter((line) => line !== '')
      }
    } catch (error) {
      if (!call.aborted) throw unanswered(error)
    } finally {
      unlisten()
      response.destroy()
    }
  }

  /** Waits for `duration` milliseconds. Rejects with the reason of the abort when the call is aborted first. */
  async pause(duration: number, call: StoreCall): Promise<void> {
    await pause(this.#options.clock ?? systemClock, duration, call)
  }

  close(): void {
    const error = unanswered(new Error('the store was closed'))
    this.#requests.close(error)
    this.#openings.close(error)
    this.#connection.close()
  }

  async #refresh(): Promise<void> {
    this.#config = Promise.resolve(withFreshCredentials(await this.#load()))
  }

  async #read(response: IncomingMessage, call: StoreCall): Promise<ApiAnswer> {
    const unlisten = call.onAbort(() => response.destroy())
    try {
      return toAnswer(response.statusCode ?? 0, response.headers, await text(response))
    } catch (error) {
      throw call.aborted ? call.signal.reason : unanswered(error)
    } finally {
      unlisten()
    }
  }

  async #send(request: ApiRequest, use: ConnectionUse, call: StoreCall): Promise<IncomingMessage> {
    const config = await this.#load()
    if (call.aborted) throw call.signal.reason
    return await this.#connection.send(config, request, use, call)
  }
}
