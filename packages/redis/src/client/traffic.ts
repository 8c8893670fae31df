/** What is under way to one server: how many calls, and since when nothing came back. */
export interface Lane {
  underWay: number
  quietSince: number
}

/** What is under way over a connection, for each server that it leads to. */
export class Traffic {
  readonly #lanes = new Map<string, Lane>()
  #underWay = 0
  #onIdle: (() => void) | undefined

  /** A call to the server of that name is sent. */
  begin(node: string, now: number): Lane {
    let lane = this.#lanes.get(node)
    if (lane === undefined) {
      lane = { underWay: 0, quietSince: now }
      this.#lanes.set(node, lane)
    }
    if (lane.underWay === 0) lane.quietSince = now
    lane.underWay += 1
    this.#underWay += 1
    return lane
  }

  /** One of its calls has ended, well or badly. */
  end(lane: Lane, now: number): void {
    lane.underWay -= 1
    lane.quietSince = now
    this.#underWay -= 1
    if (this.#underWay === 0) this.#onIdle?.()
  }

  get isIdle(): boolean {
    return this.#underWay === 0
  }

  /** Calls back once nothing is under way any more; at once where nothing is. */
  whenIdle(callback: () => void): void {
    this.#onIdle = callback
    if (this.isIdle) callback()
  }
}
