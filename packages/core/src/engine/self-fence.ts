import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import { LeaseUnavailableError } from '../errors/lease-unavailable-error.js'
import { reasonOf } from '../errors/shown-value.js'
import type { SelfFenceMode } from '../settings/fence-times.js'
import type { LeaseSettings } from '../settings/lease-settings.js'
import type { Clock } from '../time/clock.js'
import { systemClock } from '../time/system-clock.js'
import { loadForSetting } from '../user-code/load-package.js'
import { toEngineRecorder } from './engine-recorder.js'
import type { EngineEnvironment } from './event-context.js'
import { detailsOf } from './failures.js'
import type { SharedDeadline } from './grant-keeper.js'
import type { LeaseRules } from './lease-rules.js'

/** Ends the process if it does not acknowledge the loss of a grant of one lease in time. */
export interface ProcessFence {
  /** Starts the thread that ends the process; `undefined` if it runs. Rejects if it cannot be started. */
  start(): Promise<void> | undefined
  /** A grant was obtained or renewed. `validUntil` is on the system clock. */
  arm(validUntil: number): SharedDeadline | undefined
  /** The grant was left: released, or handed off. */
  disarm(): void
  /**
   * The loss of the grant was reported: the signal is aborted, and the callbacks have returned. It is acknowledged when the
   * work of the run under the grant has ended.
   */
  acknowledge(work: Promise<void> | undefined): void
}

/**
 * Makes the fence of one lease. `onEnded`: the thread that ends the process has ended by itself. `lastWords`: the thread writes
 * them to a file first.
 */
export type FenceMaker = (
  mode: SelfFenceMode,
  ttl: number,
  onEnded: () => void,
  lastWords?: SharedArrayBuffer,
) => ProcessFence

/** The maker of fences, once `@leasehold/self-fence` was loaded. */
const provided: { make?: FenceMaker } = {}

/** Called by `@leasehold/self-fence` when it is loaded, so that a bundle that imports it needs no package beside it. */
export function provideFence(make: FenceMaker): void {
  provided.make = make
}

/** Rejects with a `LeaseConfigurationError` if `@leasehold/self-fence` is not installed. */
export async function loadFence(): Promise<FenceMaker> {
  if (provided.make !== undefined) return provided.make
  const loaded = await loadForSetting('@leasehold/self-fence', 'selfFence')
  const { createFence } = loaded as { readonly createFence: FenceMaker }
  return createFence
}

/** The self-fence of one lease. The thread that ends the process is loaded and started at the first claim. */
export class LeaseFence {
  readonly #mode: SelfFenceMode
  readonly #rules: LeaseRules
  readonly #onEnded: () => void
  readonly #lastWords: SharedArrayBuffer | undefined
  #fence: ProcessFence | undefined

  /** The fence of a lease, if its settings ask for one. `onEnded`: the thread that ends the process has ended by itself. */
  static of(
    { selfFence }: LeaseSettings,
    rules: LeaseRules,
    { clock, recorder }: Pick<EngineEnvironment, 'clock' | 'recorder'>,
    onEnded: () => void,
  ): LeaseFence | undefined {
    if (selfFence === undefined) return undefined
    checkProcess(rules, clock)
    return new LeaseFence(selfFence, rules, onEnded, recorder && toEngineRecorder(recorder).lastWords)
  }

  private constructor(
    mode: SelfFenceMode,
    rules: LeaseRules,
    onEnded: () => void,
    lastWords: SharedArrayBuffer | undefined,
  ) {
    this.#mode = mode
    this.#rules = rules
    this.#onEnded = onEnded
    this.#lastWords = lastWords
  }

  /** Starts the thread; `undefined` if it runs. Rejects with a `LeaseUnavailableError` if it cannot be started. */
  start(): Promise<void> | undefined {
    if (provided.make !== undefined) this.#make(provided.make)
    const starting = this.#fence === undefined ? this.#load() : this.#fence.start()
    return starting === undefined ? undefined : this.#started(starting)
  }

  arm(validUntil: number): SharedDeadline | undefined {
    return this.#fence?.arm(validUntil)
  }

  disarm(): void {
    this.#fence?.disarm()
  }

  acknowledge(work: Promise<void> | undefined): void {
    this.#fence?.acknowledge(work)
  }

  #make(make: FenceMaker): void {
    this.#fence ??= make(this.#mode, this.#rules.ttl, this.#onEnded, this.#lastWords)
  }

  async #load(): Promise<void> {
    this.#make(await loadFence())
  }

  async #started(starting: Promise<void>): Promise<void> {
    try {
      await starting
    } catch (cause) {
      if (cause instanceof LeaseConfigurationError) throw cause
      const message = `the thread of selfFence could not be started: ${reasonOf(cause)}`
      throw new LeaseUnavailableError(message, { ...detailsOf(this.#rules), cause })
    }
  }
}

/** Throws a `LeaseConfigurationError` where the process cannot be ended, or not by the clock of the lease. */
function checkProcess(rules: LeaseRules, clock: Clock): void {
  if (clock !== systemClock) {
    const message = "selfFence ends the process by the machine's clock: leave it out, or leave out the clock"
    throw new LeaseConfigurationError(message, detailsOf(rules))
  }
  // The kernel ignores signals that the first process of a container sends to itself, SIGKILL included.
  if (process.pid === 1 && process.platform !== 'win32') {
    throw new LeaseConfigurationError(
      'selfFence cannot end this process, because its id is 1, as that of the first process in a container: start it ' +
        'by an init process (docker run --init, or tini), or leave selfFence out',
      detailsOf(rules),
    )
  }
}
