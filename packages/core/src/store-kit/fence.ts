import { publishers } from '../channels/channels.js'
import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import type { LeaseErrorDetails } from '../errors/lease-error.js'
import { LeaseLostError } from '../errors/lease-lost-error.js'
import { faultOfSignal } from '../errors/option-faults.js'
import { faultOfNames } from '../errors/option-names.js'
import { kindOf, shownValue } from '../errors/shown-value.js'
import { AbortableCall } from '../store/store-call.js'
import type { AbortListeners } from '../time/abort-listeners.js'

/** Options of the methods of every fencing guard. */
export interface GuardOptions {
  /** The time limit. When it aborts, the call rejects with its reason: the write may have happened. */
  readonly signal?: AbortSignal | undefined
}

/**
 * The shape of fencing guards. A guard rejects the write of a holder that has lost its lease without noticing: it keeps the
 * largest token under which a resource was written, also after the resource was deleted, and rejects smaller ones with a
 * `LeaseLostError` (reason `taken`). The check of the token, the new token and the write are one step. Errors of the user's
 * own work pass through unchanged. A class that implements it is named as its store: `RedisGuard`, `PostgresGuard`.
 *
 * A guard sends a write again only if the first copy certainly had no effect. A second copy could arrive late, and replace
 * what the same holder has written since. If the outcome is unknown, the call rejects with a `LeaseUnavailableError`.
 *
 * The methods take the resource first and the token second. `resource` is the name of the data by which its writers know it:
 * a key, the name of a blob, the path of an object, or any text where the guard does not write the data itself. Each method
 * makes a {@link Fence} of these arguments, which checks them.
 */
export interface FencingGuard {
  /**
   * Does the user's own work under the token: a transaction or a script where the backend has them, else a function. Every
   * guard has it.
   */
  transact(resource: string, fencingToken: bigint | string, work: never, options?: GuardOptions): unknown
  /** Replaces the value of the resource. For a guard of data that its backend keeps. */
  write?(resource: string, fencingToken: bigint | string, value: never, options?: GuardOptions): unknown
  /** Deletes the resource, and keeps its token. For a guard of data that its backend keeps. */
  delete?(resource: string, fencingToken: bigint | string, options?: GuardOptions): unknown
  /** Ends the connections or files that the guard has opened itself. */
  close?(): Promise<void>
}

/** One call of a fencing guard: its arguments, checked, and the rule by which it is rejected. */
export class Fence {
  readonly resource: string
  readonly token: bigint
  readonly signal: AbortSignal | undefined
  readonly #kind: string
  readonly #details: LeaseErrorDetails

  /**
   * Throws a `LeaseConfigurationError` unless the resource is a text that is not empty, and the token a bigint of 0 or more
   * or the text of its decimal digits; also for an unknown option. `optionNames`: those of the method beside `signal`. Throws
   * the reason of a signal that is aborted.
   */
  constructor(
    store: string,
    resource: string,
    fencingToken: bigint | string,
    options: GuardOptions = {},
    optionNames: readonly string[] = [],
  ) {
    const fault = faultOfArguments(resource, fencingToken) ?? faultOfOptions(options, optionNames)
    if (fault !== undefined) throw new LeaseConfigurationError(fault, { store })
    this.resource = resource
    this.token = BigInt(fencingToken)
    this.signal = options.signal
    this.#kind = store
    this.#details = { leaseName: resource, store }
    this.signal?.throwIfAborted()
  }

  /**
   * Throws a `LeaseLostError` if the resource has seen a larger token. `seen` is the largest token so far; `undefined` if
   * there was none. Throws a `LeaseConfigurationError` if it is a text that is not a token.
   */
  check(seen: bigint | string | undefined): void {
    if (seen === undefined) return
    if (typeof seen === 'string' && !/^\d+$/.test(seen)) {
      throw new LeaseConfigurationError(
        `the fencing token that is stored with '${this.resource}' is not a number: ${seen}. Repair or remove it`,
        this.#details,
      )
    }
    if (this.token < BigInt(seen)) throw this.rejection(seen)
  }

  /** The error for a token that a backend has found to be smaller than `seen`. */
  rejection(seen: bigint | string): LeaseLostError {
    if (publishers.guardRejected.isOn) {
      const { resource, token } = this
      publishers.guardRejected.publish({ guard: this.#kind, resource, token, seen: String(seen) })
    }
    return new LeaseLostError(
      `the fencing token ${this.token} for '${this.resource}' is older than ${seen}, which was seen already: another ` +
        'holder has the lease now',
      { ...this.#details, reason: 'taken' },
    )
  }

  /** Sends requests with a call that the signal aborts. `aborts`: the listeners of the guard. */
  async send<T>(aborts: AbortListeners, request: (call: AbortableCall) => Promise<T>, timeout?: number): Promise<T> {
    const { signal } = this
    const call = new AbortableCall(timeout)
    const unlisten = signal && aborts.add(signal, () => call.abort(signal.reason))
    try {
      return await request(call)
    } finally {
      unlisten?.()
    }
  }

  /** Runs the work of the user. Throws a `LeaseConfigurationError` if it goes on after it has returned. */
  run<T>(work: () => T): T {
    const result = work()
    if (typeof result !== 'object' || result === null || !('then' in result)) return result
    const message = 'the work under a fencing guard must be synchronous: the part that runs later is not protected'
    throw new LeaseConfigurationError(message, this.#details)
  }
}

function faultOfArguments(resource: unknown, token: unknown): string | undefined {
  if (typeof resource !== 'string' || resource === '') {
    return `resource must be a text that is not empty, not ${resource === '' ? "''" : shownKind(resource)}`
  }
  if (typeof token === 'bigint' ? token >= 0n : typeof token === 'string' && /^\d+$/.test(token)) return undefined
  return `fencingToken must be a bigint of 0 or more, or the text of its digits, not ${shownValue(token)}`
}

/** A bigint looks like a fencing token in the wrong place. */
function shownKind(resource: unknown): string {
  return typeof resource === 'bigint' ? 'a bigint: the resource comes first' : shownValue(resource)
}

function faultOfOptions(options: unknown, names: readonly string[]): string | undefined {
  if (typeof options !== 'object' || options === null || options instanceof AbortSignal) {
    return `the options of a fencing guard must be an object such as { signal }, not ${kindOf(options)}`
  }
  const fault = faultOfNames('the fencing guard', options, ['signal', ...names])
  const { signal } = options as GuardOptions
  return fault ?? faultOfSignal(signal)
}
