import { type Clock, LeaseUnavailableError, systemClock } from '@leasehold/core'
import { AbortableCall, type StoreCall } from '@leasehold/core/store'
import { isUnconnected } from '@leasehold/core/store-kit'
import { addressesIn, type ConsulClusterOptions, transportOf } from '../cluster-options.js'
import { unanswered } from '../failure-of.js'
import type { ConsulAnswer } from './consul-answer.js'
import type { ConsulRequest, ConsulTransport } from './consul-transport.js'

/** The time for which an agent holds a blocking query, in seconds. The agent adds up to a sixteenth of it. */
export const LONGEST_WAIT = 30

/** An agent that has not answered a blocking query for this time, in milliseconds, is silent. */
const SILENCE = LONGEST_WAIT * 1_000 * (1 + 1 / 16) + 5_000

/** Sends requests to one of several Consul agents. */
export class ConsulClient {
  readonly #addresses: readonly URL[]
  readonly #clock: Clock
  readonly #transport: ConsulTransport
  /** The address that answered last. */
  #preferred = 0

  /** Throws a `LeaseConfigurationError` if an option is invalid. The constructor sends no request. */
  constructor(options: ConsulClusterOptions) {
    this.#addresses = addressesIn(options)
    this.#transport = transportOf(options)
    this.#clock = options.clock ?? systemClock
  }

  /**
   * Resolves with the answer, whatever its status. An agent that cannot be reached, is silent for its part of the time
   * limit, or answers with a 5xx, is replaced by the next one: so a request that must not be applied twice needs `once`.
   * Rejects with the reason of the abort, or with a `LeaseUnavailableError` if no agent answers.
   */
  async send(request: ConsulRequest, call: StoreCall): Promise<ConsulAnswer> {
    const first = this.#preferred
    let last: ConsulAnswer | Error | undefined
    for (let tried = 0; tried < this.#addresses.length; tried += 1) {
      if (call.aborted) throw call.signal.reason
      const place = (first + tried) % this.#addresses.length
      last = await this.#ask(this.#addresses[place] as URL, request, call)
      if (!(last instanceof Error) && last.status < 500) {
        this.#preferred = place
        return last
      }
      if (this.#preferred === place) this.#preferred = (place + 1) % this.#addresses.length
      if (request.once === true && !isUnsent(last)) break
    }
    if (last instanceof Error) throw last
    return last as ConsulAnswer
  }

  /** Ends all requests, and the connections that are not the user's. */
  close(): void {
    this.#transport.close()
  }

  /** One request to one agent. Rejects only when the call is aborted; another failure is the result. */
  async #ask(address: URL, request: ConsulRequest, call: StoreCall): Promise<ConsulAnswer | Error> {
    const limit = new AbortableCall(call.timeout)
    const unlisten = call.onAbort(() => limit.abort())
    const part = request.blocking === true ? SILENCE : call.timeout / this.#addresses.length
    const isLimited = part < call.timeout
    const cancel = isLimited ? this.#clock.schedule(part, () => limit.abort()) : undefined
    try {
      return await this.#transport.exchange(address, request, limit)
    } catch (error) {
      if (call.aborted) throw call.signal.reason
      if (limit.aborted) {
        return new LeaseUnavailableError(
          `the Consul agent ${address.host} was silent: the request may have been applied`,
          {
            store: 'consul',
          },
        )
      }
      return error instanceof LeaseUnavailableError ? error : unanswered(error)
    } finally {
      cancel?.()
      unlisten()
    }
  }
}

/** Whether the request certainly did not reach the agent. An agent that answers with a 5xx may have passed it on. */
function isUnsent(last: ConsulAnswer | Error): boolean {
  return last instanceof Error && isUnconnected(last.cause)
}
