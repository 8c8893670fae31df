import { AsyncResource } from 'node:async_hooks'
import { Deferred, shownText, shownValue } from '@leasehold/core/internal'
import { checkOptionNames, type OptionNames } from '@leasehold/core/store-kit'
import type { Lock, LockMode, LockOptions } from './lock.js'

/** The callback of a request: gets the lock, or `null` if it was not available. */
export type LockCallback = (lock: Lock | null) => unknown

const optionNames: OptionNames<LockOptions> = { ifAvailable: true, mode: true, signal: true, steal: true }

/** A lock request of the Web Locks API, from `request` until its callback is called. */
export class LockRequest {
  readonly name: string
  readonly mode: LockMode
  readonly ifAvailable: boolean
  readonly steal: boolean
  readonly signal: AbortSignal | undefined
  readonly #callback: LockCallback
  readonly #result = new Deferred<unknown>()

  constructor(name: string, { mode, ifAvailable, steal, signal }: CheckedOptions, callback: LockCallback) {
    this.name = name
    this.mode = mode
    this.ifAvailable = ifAvailable
    this.steal = steal
    this.signal = signal
    // The callback belongs to its caller, also if it is called when another lock was released.
    this.#callback = AsyncResource.bind(callback)
  }

  /** The promise that the caller of `request` gets. */
  get result(): Promise<unknown> {
    return this.#result.promise
  }

  /** Calls the callback. Resolves or rejects as its promise does. */
  async call(lock: Lock | null): Promise<unknown> {
    return await this.#callback(lock)
  }

  resolve(value: unknown): void {
    this.#result.resolve(value)
  }

  /** Has no effect once the result is settled. */
  reject(error: unknown): void {
    this.#result.reject(error)
  }
}

interface CheckedOptions extends Required<LockOptions> {
  readonly mode: LockMode
  readonly ifAvailable: boolean
  readonly steal: boolean
}

/**
 * Checks the arguments of `request`, in the order of the specification. Throws a `TypeError` where a browser's conversion
 * does, a `LeaseConfigurationError` for an unknown option, a `DOMException` (`NotSupportedError`) for a name or options that
 * the specification rejects, and the reason of a signal that is aborted.
 */
export function toLockRequest(given: readonly unknown[]): LockRequest {
  if (given.length < 2) throw new TypeError(`request needs a name and a callback, not ${given.length} arguments`)
  // As a browser does: a symbol throws a TypeError.
  const name = `${given[0] as string}`
  const options = checkedOptions(given.length > 2 ? given[1] : undefined)
  const callback = given[given.length > 2 ? 2 : 1]
  if (typeof callback !== 'function') {
    throw new TypeError(`the callback of request must be a function, not ${shownValue(callback)}`)
  }
  if (name.startsWith('-'))
    throw notSupported(`the name of a lock must not begin with '-': rename '${shownText(name)}'`)
  const { mode, ifAvailable, steal, signal } = options
  if (steal && ifAvailable) throw notSupported('steal and ifAvailable exclude each other: give one of them')
  if (steal && mode !== 'exclusive') throw notSupported(`steal needs the mode 'exclusive', not '${mode}'`)
  if (signal !== undefined && (steal || ifAvailable)) {
    throw notSupported(`a request with ${steal ? 'steal' : 'ifAvailable'} does not wait: leave out the signal`)
  }
  signal?.throwIfAborted()
  return new LockRequest(name, options, callback as LockCallback)
}

/** The conversion of a dictionary, which reads each member once, in the order of their names. */
function checkedOptions(given: unknown): CheckedOptions {
  if (given !== undefined && given !== null && typeof given !== 'object' && typeof given !== 'function') {
    throw new TypeError(`the options of request must be an object, not ${shownValue(given)}`)
  }
  const options: LockOptions = given ?? {}
  checkOptionNames('request', options, optionNames)
  const ifAvailable = Boolean(options.ifAvailable)
  const { mode: asked = 'exclusive', signal } = options
  const mode = `${asked}`
  if (mode !== 'exclusive' && mode !== 'shared') {
    throw new TypeError(`mode must be 'exclusive' or 'shared', not '${shownText(mode)}'`)
  }
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw new TypeError(`signal must be an AbortSignal, not ${shownValue(signal)}`)
  }
  return { ifAvailable, mode, signal, steal: Boolean(options.steal) }
}

function notSupported(message: string): DOMException {
  return new DOMException(message, 'NotSupportedError')
}
