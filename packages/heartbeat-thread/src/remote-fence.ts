import { type SelfFenceMode, systemClock } from '@leasehold/core'
import { acknowledgeTime, askBefore, type Fence } from '@leasehold/core/internal'
import type { ThreadLink } from './thread-link.js'

/** A grant with a deadline that the heartbeat thread has armed. */
interface FencedGrant {
  readonly link: ThreadLink
  readonly place: number
  /** Tells the thread that the loss was acknowledged. */
  readonly acknowledge: () => void
}

/**
 * The fence of a lease whose engine runs in the heartbeat thread. The engine arms it, because it goes on while this thread is
 * blocked. The watchdog belongs to this thread: it goes on when the heartbeat thread has died.
 */
export class RemoteFence implements Fence {
  readonly #mode: SelfFenceMode
  readonly #ttl: number
  readonly #link: () => ThreadLink | Promise<ThreadLink>
  readonly #onEnded: () => void
  #unwatch: (() => void) | undefined
  #granted: FencedGrant | undefined

  /** `onEnded`: the watchdog has ended by itself. */
  constructor(mode: SelfFenceMode, ttl: number, link: () => ThreadLink | Promise<ThreadLink>, onEnded: () => void) {
    this.#mode = mode
    this.#ttl = ttl
    this.#link = link
    this.#onEnded = onEnded
  }

  start(): Promise<void> | undefined {
    let link: ThreadLink | Promise<ThreadLink>
    try {
      link = this.#link()
    } catch {
      // The claim will say so.
      return undefined
    }
    const ignore = (): void => {}
    // Until the store is open in the thread. The claim then comes here again.
    return link instanceof Promise ? link.then(ignore, ignore) : link.watchdog.start()
  }

  /** The lease is held or asked for in the thread: the watchdog has to run. */
  engage(link: ThreadLink): void {
    try {
      this.#unwatch ??= link.watchdog.watch(this.#onEnded)
    } catch {
      queueMicrotask(this.#onEnded)
    }
  }

  /** Nothing is held, and no caller waits. */
  disengage(): void {
    this.#unwatch?.()
    this.#unwatch = undefined
  }

  granted(grant: FencedGrant): void {
    this.#granted = grant
    grant.link.places.add(grant.place)
  }

  /** The grant was left, in the thread. */
  left(): void {
    const grant = this.#granted
    this.#granted = undefined
    grant?.link.places.delete(grant.place)
    if (grant?.link.isEnded === true) grant.link.deadlines.clear(grant.place)
  }

  arm(): void {}

  disarm(): void {}

  acknowledge(work: Promise<void> | undefined): void {
    const grant = this.#granted
    if (grant === undefined) return
    this.#granted = undefined
    const { link, place } = grant
    if (work === undefined) {
      this.#end(grant)
      return
    }
    const killAt = systemClock.now() + acknowledgeTime(this.#ttl)
    // The thread does the same, unless it hangs or has died.
    link.deadlines.shorten(place, killAt - askBefore(this.#mode, this.#ttl), killAt)
    const unwatch = link.watchdog.watch(() => {})
    void work.then(() => {
      unwatch()
      this.#end(grant)
    })
  }

  /** Before the thread hears of it, and gives the place to another grant. */
  #end({ link, place, acknowledge }: FencedGrant): void {
    link.deadlines.clear(place)
    link.places.delete(place)
    acknowledge()
  }
}
