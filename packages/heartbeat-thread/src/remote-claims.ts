import type { Claim } from '@leasehold/core/internal'
import type { ClaimSpec } from './thread-messages.js'

/** The callers of `acquire` that wait for an outcome from the heartbeat thread. Each gets one, and is then removed. */
export class RemoteClaims {
  readonly #claims = new Map<number, Claim>()
  /** Those that the thread does not know yet, because it is being started. */
  readonly #unsent = new Set<number>()
  #serial = 0

  get isEmpty(): boolean {
    return this.#claims.size === 0
  }

  /** Whether the thread knows any of them. */
  get areAwaited(): boolean {
    return this.#claims.size > this.#unsent.size
  }

  add(claim: Claim): void {
    this.#serial += 1
    this.#claims.set(this.#serial, claim)
    this.#unsent.add(this.#serial)
  }

  get(id: number): Claim | undefined {
    return this.#claims.get(id)
  }

  /** Removes a claim. Returns its number, if the thread knows it. */
  remove(claim: Claim): number | undefined {
    for (const [id, known] of this.#claims) {
      if (known !== claim) continue
      const isUnsent = this.#unsent.has(id)
      this.take(id)
      return isUnsent ? undefined : id
    }
    return undefined
  }

  /** Removes and returns a claim; the caller of this method settles it. */
  take(id: number): Claim | undefined {
    const claim = this.#claims.get(id)
    this.#claims.delete(id)
    this.#unsent.delete(id)
    claim?.unlisten?.()
    return claim
  }

  takeAll(): readonly Claim[] {
    return [...this.#claims.keys()].flatMap((id) => this.take(id) ?? [])
  }

  /** The thread is to be asked again. */
  resend(id: number): void {
    if (this.#claims.has(id)) this.#unsent.add(id)
  }

  /** The claims that are to be sent now. */
  send(now: number): readonly ClaimSpec[] {
    const ids = [...this.#unsent]
    this.#unsent.clear()
    return ids.flatMap((id) => {
      const claim = this.#claims.get(id)
      return claim === undefined ? [] : [specOf(id, claim, now)]
    })
  }
}

function specOf(id: number, { waitUntil, wishes, preempt }: Claim, now: number): ClaimSpec {
  const wait = waitUntil === Number.NEGATIVE_INFINITY ? undefined : Math.max(waitUntil - now, 0)
  return { id, wait, wishes, period: preempt?.period }
}
