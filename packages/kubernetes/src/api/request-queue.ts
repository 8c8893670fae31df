import type { StoreCall } from '@leasehold/core/store'

interface Waiting {
  readonly go: () => void
  readonly fail: (error: unknown) => void
}

/**
 * Lets a limited number of requests through at a time. Without a limit, hundreds of leases that are acquired at once open as
 * many connections. The handshakes then take so long that the requests time out, and each time-out costs its connection.
 */
export class RequestQueue {
  readonly #most: number
  readonly #urgent = new Set<Waiting>()
  readonly #others = new Set<Waiting>()
  #underWay = 0
  #closedBy: Error | undefined

  /** `most`: how many requests are under way at most. */
  constructor(most: number) {
    this.#most = most
  }

  /**
   * Resolves, when there is room, with a function that makes room again; calling it twice does no harm. Urgent requests come
   * first, each kind in its order. Rejects with the reason of the abort if that comes first, or with the error of `close`.
   */
  async enter(isUrgent: boolean, call: StoreCall): Promise<() => void> {
    if (this.#closedBy !== undefined) throw this.#closedBy
    if (this.#underWay < this.#most) this.#underWay += 1
    else await this.#turn(isUrgent ? this.#urgent : this.#others, call)
    let isLeft = false
    return () => {
      if (isLeft) return
      isLeft = true
      this.#leave()
    }
  }

  /** Rejects those that wait, and all later ones. */
  close(error: Error): void {
    this.#closedBy = error
    for (const { fail } of [...this.#urgent, ...this.#others]) fail(error)
  }

  #turn(waiting: Set<Waiting>, call: StoreCall): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (): void => {
        waiting.delete(entry)
        unlisten()
      }
      const entry: Waiting = {
        go: () => {
          end()
          resolve()
        },
        fail: (error) => {
          end()
          reject(error)
        },
      }
      waiting.add(entry)
      let unlisten = (): void => {}
      unlisten = call.onAbort(() => entry.fail(call.signal.reason))
    })
  }

  /** Gives the room of one request to the next. */
  #leave(): void {
    const [next] = this.#urgent.size > 0 ? this.#urgent : this.#others
    if (next === undefined) this.#underWay -= 1
    else next.go()
  }
}
