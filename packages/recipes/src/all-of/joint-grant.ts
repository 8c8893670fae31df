import { type AcquireOptions, type Lease, type LeaseLost, LeaseLostError } from '@leasehold/core'
import { isStoreLease } from '@leasehold/core/internal'
import { AbortableCall, type StoreCall } from '@leasehold/core/store'
import { aborts } from '../first-abort.js'

/** A part that was taken. */
interface Taken {
  readonly part: Lease
  /** Whether the part was held before: it then stays held. */
  readonly isKept: boolean
  unwatch: () => void
}

/**
 * The parts that one attempt has taken, in order. It is over when the first part is lost, or when it is abandoned, and is
 * never valid again.
 */
export class JointGrant {
  /** The tokens of the parts by name. A name that several parts share is left out. */
  readonly tokens = new Map<string, bigint>()
  /** The first loss of a part, as the loss of all. */
  loss: LeaseLost | undefined
  readonly #onLost: (loss: LeaseLost) => Promise<unknown>
  /** Settles when the work has ended, after the loss. */
  #ending: Promise<unknown> | undefined
  readonly #climbing = new AbortableCall()
  readonly #names = new Set<string>()
  #taken: Taken[] = []
  #isOver = false

  /** `onLost` returns a promise that settles when the work under all has ended. */
  constructor(onLost: (loss: LeaseLost) => Promise<unknown>) {
    this.#onLost = onLost
  }

  /** Whether the attempt has to stop. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** The call for pauses of the attempt, aborted when the grant is over. */
  get climbing(): StoreCall {
    return this.#climbing
  }

  /** Takes one more part. Rejects as the part does; `false` also if the grant is over. */
  async take(part: Lease, options: AcquireOptions): Promise<boolean> {
    const token = part.checkLease() ? part.fencingToken : undefined
    const wasHeld = part.checkLease()
    const onLost = (lost: LeaseLost): unknown => this.#lose(part, lost)
    // The callbacks of a lease that stays held would pile up on it. Only a self-fence needs them: it waits for the work.
    const isWatched = wasHeld && part.settings.selfFence === undefined
    const taken: Taken = { part, isKept: false, unwatch: () => {} }
    try {
      const given = { ...options, signal: this.#climbing.signal, ...(isWatched ? {} : { onLost }) }
      if (!(await part.acquire(given))) return false
    } catch (error) {
      // The outcome is unknown: `free` releases it, too.
      if (!wasHeld) this.#taken.push(taken)
      if (this.#isOver) return false
      throw error
    }
    const isKept = wasHeld && part.fencingToken === token
    this.#taken.push({ ...taken, isKept, unwatch: this.#watch(part, wasHeld) })
    this.#noteToken(part)
    return !this.#isOver
  }

  /** Whether every part is valid. Once it is not, it stays so. */
  isValid(): boolean {
    if (!this.#isOver && !this.#taken.every(({ part }) => part.checkLease())) this.#isOver = true
    return !this.#isOver
  }

  /** Reports the loss of a part whose validity is over by the clock, before its own notification. */
  loseInvalid(): void {
    const invalid = this.#taken.find(({ part }) => !part.checkLease())
    if (invalid !== undefined) void this.#lose(invalid.part, { reason: 'expired' })
  }

  /** Ends the grant: from now on it is not valid, and no loss is reported. */
  end(): void {
    this.#isOver = true
    for (const taken of this.#taken) taken.unwatch()
    this.#climbing.abort(new Error('the parts are released'))
    this.loss ??= { reason: 'closed' }
  }

  /**
   * Releases the parts that it has taken, in reverse order. Resolves as `release` of a lease does; rejects with the first
   * error after all were tried. The parts that failed are released again by the next call.
   */
  async free(): Promise<boolean> {
    this.end()
    const failed: Taken[] = []
    const errors: unknown[] = []
    let isFree = true
    for (const taken of this.#taken.toReversed()) {
      if (taken.isKept) continue
      try {
        isFree = (await taken.part.release()) && isFree
      } catch (error) {
        failed.unshift(taken)
        errors.push(error)
      }
    }
    this.#taken = failed
    if (errors.length > 0) throw errors[0]
    return isFree
  }

  #noteToken(part: Lease): void {
    const { name } = part.settings
    if (this.#names.has(name)) this.tokens.delete(name)
    else if (part.fencingToken !== undefined) this.tokens.set(name, part.fencingToken)
    this.#names.add(name)
  }

  /** Watches for the ends of a part that its `onLost` does not report. Returns a function that stops it. */
  #watch(part: Lease, wasHeld: boolean): () => void {
    const released = (): void => {
      const { name: leaseName, owner } = part.settings
      const message = `lease '${leaseName}' was released by itself, while all of its leases were held`
      void this.#lose(part, {
        reason: 'closed',
        cause: new LeaseLostError(message, { leaseName, owner, reason: 'released' }),
      })
    }
    if (isStoreLease(part)) part.once('released', released)
    const unlisten = wasHeld ? this.#watchSignal(part) : () => {}
    return () => {
      unlisten()
      if (isStoreLease(part)) part.off('released', released)
    }
  }

  /** Listens to the signal, because it can be left again. Callbacks would pile up on a lease that stays held. */
  #watchSignal(part: Lease): () => void {
    const { signal } = part
    return aborts.add(signal, () => {
      const { reason, cause } = signal.reason as LeaseLostError
      void this.#lose(part, { reason: reason === 'released' ? 'closed' : reason, cause })
    })
  }

  /** Reports the loss of a part. Settles when the work has ended: the self-fence of each part waits for it. */
  #lose(part: Lease, lost: LeaseLost): Promise<unknown> | undefined {
    if (this.loss !== undefined) return this.#ending
    this.#isOver = true
    // A lost part need not be released.
    this.#taken = this.#taken.filter((taken) => {
      if (taken.part === part) taken.unwatch()
      return taken.part !== part
    })
    this.loss = lossOfAll(part, lost)
    this.#climbing.abort(this.loss.cause)
    this.#ending = this.#onLost(this.loss)
    return this.#ending
  }
}

/** The loss of all, for the loss of one part: its cause names the part. */
function lossOfAll(part: Lease, { reason, owner: holder, cause }: LeaseLost): LeaseLost {
  const { name: leaseName, owner } = part.settings
  const by = holder === undefined || holder === '' ? '' : ` (held by '${holder}' now)`
  const details = { leaseName, owner, reason, cause }
  const ofPart =
    cause instanceof LeaseLostError && cause.leaseName === leaseName
      ? cause
      : new LeaseLostError(
          `lease '${leaseName}', one of several that are held together, was lost: ${reason}${by}`,
          details,
        )
  return { reason, ...(holder === undefined ? {} : { owner: holder }), cause: ofPart }
}
