import type { Clock } from '@leasehold/core'
import { nanoid } from 'nanoid'

/** After how many milliseconds a claim that was not repeated is forgotten: whoever waits repeats it within minutes. */
const FORGOTTEN_AFTER = 3_600_000

interface Abandoned {
  /** How many attempts of the claim were taken back. */
  readonly attempts: number
  readonly at: number
}

/**
 * Under which grant id the servers are asked: the one that was proposed until an attempt under it is taken back, then
 * another for each attempt. A release that takes back an attempt may reach a server late, whenever it thaws or a network
 * lets go of it: it must find nothing there that a later attempt of the same claim was granted.
 */
export class AttemptIds {
  readonly #clock: Clock
  /** Attempts of other processes under the same id are others. */
  readonly #mark = `~${nanoid(8)}~`
  /** By the proposed grant id; the one that was used longest ago first. */
  readonly #abandoned = new Map<string, Abandoned>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  idOf(grantId: string): string {
    const abandoned = this.#abandoned.get(grantId)
    return abandoned === undefined ? grantId : this.#name(grantId, abandoned.attempts)
  }

  /** The attempt under way is taken back: the id that it had is never used again. */
  abandon(grantId: string): void {
    const attempts = (this.#abandoned.get(grantId)?.attempts ?? 0) + 1
    const at = this.#clock.now()
    this.#abandoned.delete(grantId)
    this.#abandoned.set(grantId, { attempts, at })
    for (const [oldest, { at: usedAt }] of this.#abandoned) {
      if (at - usedAt < FORGOTTEN_AFTER) return
      this.#abandoned.delete(oldest)
    }
  }

  /** Whether an attempt under this id is being, or was, taken back: whatever servers still have of it is nobody's. */
  isAbandoned(id: string): boolean {
    if (this.#abandoned.size === 0) return false
    const [grantId, attempt] = this.#parse(id)
    return attempt < (this.#abandoned.get(grantId)?.attempts ?? 0)
  }

  /** The claim has come to its end. */
  forget(id: string): void {
    if (this.#abandoned.size > 0) this.#abandoned.delete(this.#parse(id)[0])
  }

  #name(grantId: string, attempt: number): string {
    return attempt === 0 ? grantId : `${grantId}${this.#mark}${attempt}`
  }

  #parse(id: string): [grantId: string, attempt: number] {
    const end = id.lastIndexOf(this.#mark)
    return end < 0 ? [id, 0] : [id.slice(0, end), Number(id.slice(end + this.#mark.length))]
  }
}
