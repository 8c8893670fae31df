import type { GrantEffect } from '../engine/grant-effect.js'
import { Deferred } from '../time/deferred.js'

/** The renewal that the concurrent callers of `renew()` share. */
export class SharedRenewal {
  readonly #send: () => void
  #underWay: Deferred<boolean> | undefined

  /** `send` asks for a renewal; its outcome may come before `send` returns. */
  constructor(send: () => void) {
    this.#send = send
  }

  /** Resolves `true` once a renewal is confirmed, `false` when the grant has ended; rejects when the attempt fails. */
  join(): Promise<boolean> {
    if (this.#underWay !== undefined) return this.#underWay.promise
    const underWay = new Deferred<boolean>()
    this.#underWay = underWay
    this.#send()
    return underWay.promise
  }

  /** A heartbeat was confirmed or failed; one that is only late (without a latency) is still under way. */
  onHeartbeat(effect: Extract<GrantEffect, { type: 'renewed' | 'jeopardy' }>): void {
    if (effect.latency === undefined) return
    if (effect.type === 'renewed') this.#take()?.resolve(true)
    else this.#take()?.reject(effect.cause)
  }

  /** The grant has ended. */
  end(): void {
    this.#take()?.resolve(false)
  }

  #take(): Deferred<boolean> | undefined {
    const ended = this.#underWay
    this.#underWay = undefined
    return ended
  }
}
