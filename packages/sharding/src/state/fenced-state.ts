import {
  type Clock,
  LeaseConfigurationError,
  LeaseConflictError,
  LeaseLostError,
  LeaseTimeoutError,
  systemClock,
} from '@leasehold/core'
import { checkFault, checkIdentifier, faultOfDuration, inTime, shownValue } from '@leasehold/core/internal'
import { AbortableCall, type StoreCall } from '@leasehold/core/store'
import { checkOptionNames, untilAborted } from '@leasehold/core/store-kit'
import type { EntityState, SavedEntity } from '../entity-state.js'
import { entityIn, textOf } from './entity-text.js'

/** Options of every state. */
export interface StateOptions {
  /** The largest size of an entity, as JSON, in bytes; 1 MiB unless given. `save` rejects a larger one. */
  readonly maxBytes?: number | undefined
  /**
   * How long a `load` or `save` may take, in milliseconds; 10,000 unless given. Then it rejects with a `LeaseTimeoutError`,
   * and it is not known whether a save has an effect.
   */
  readonly timeout?: number | undefined
  /** The machine's clock unless given. It is used only for the time limit. */
  readonly clock?: Clock | undefined
}

/** The names of the options of every state, for its check of names. */
export const STATE_OPTIONS = { maxBytes: true, timeout: true, clock: true } as const

const MAX_BYTES = 1024 * 1024

const TIMEOUT = 10_000

/**
 * The part that all states have in common: it checks the arguments, limits the time, and makes the errors. An adapter reads and
 * writes the text of an entity through the guard of its store, which throws a `LeaseLostError` for an older token.
 */
export abstract class FencedState implements EntityState {
  /** Of the store, for errors. */
  readonly #store: string
  readonly #options: StateOptions

  constructor(store: string, options: StateOptions) {
    checkOptionNames<StateOptions>('the state of entities', options, STATE_OPTIONS, { store })
    const { maxBytes, timeout } = options
    checkFault(faultOfDuration('timeout', timeout), { store })
    if (maxBytes !== undefined && !(Number.isInteger(maxBytes) && maxBytes > 0)) {
      const message = `maxBytes must be a positive, whole number of bytes, not ${shownValue(maxBytes)}`
      throw new LeaseConfigurationError(message, { store })
    }
    this.#store = store
    this.#options = options
  }

  /** Raises the fence of the entity to the token, then reads the text of the entity. */
  protected abstract read(id: string, token: bigint, call: StoreCall): Promise<string | undefined>

  /** Writes the text if the fence is not above the token, in one step. */
  protected abstract write(id: string, text: string, token: bigint, call: StoreCall): Promise<void>

  /** A typed error that says what to do, for an error of the store. */
  protected abstract failureOf(action: string, id: string, error: unknown): unknown

  async load(id: string, token: bigint): Promise<SavedEntity | undefined> {
    const text = await this.#within('load', id, token, (call) => this.read(id, token, call))
    return text === undefined ? undefined : entityIn(text, { id, store: this.#store })
  }

  async save(id: string, entity: SavedEntity, token: bigint): Promise<void> {
    const { maxBytes = MAX_BYTES } = this.#options
    await this.#within('save', id, token, (call) =>
      this.write(id, textOf(entity, { id, store: this.#store }, maxBytes), token, call),
    )
  }

  async #within<T>(
    operation: 'load' | 'save',
    id: string,
    token: bigint,
    work: (call: StoreCall) => Promise<T>,
  ): Promise<T> {
    const { timeout = TIMEOUT, clock = systemClock } = this.#options
    const details = { leaseName: id, store: this.#store }
    checkIdentifier('id of an entity', id)
    if (typeof token !== 'bigint' || token < 0n) {
      const message = `the fencing token of entity '${id}' must be a bigint of 0 or more, not ${shownValue(token)}`
      throw new LeaseConfigurationError(message, details)
    }
    const call = new AbortableCall(timeout)
    const late = (): never => {
      const message =
        `the ${operation} of entity '${id}' had no answer from ${this.#store} within ${timeout} ms: check that the store ` +
        'can be reached, or raise timeout'
      call.abort(new LeaseTimeoutError(message, details))
      throw call.signal.reason
    }
    try {
      return await inTime(clock, timeout, untilAborted(work(call), call), late)
    } catch (error) {
      if (error instanceof LeaseLostError) {
        const message =
          `the ${operation} of entity '${id}' was refused: its fencing token ${token} is old. Another process has the shard ` +
          'now, and has loaded or saved the entity'
        throw new LeaseConflictError(message, { ...details, cause: error })
      }
      throw call.aborted ? error : this.failureOf(`the ${operation} of entity '${id}'`, id, error)
    }
  }

  /** For the state of another region. */
  protected get options(): StateOptions {
    return this.#options
  }
}
