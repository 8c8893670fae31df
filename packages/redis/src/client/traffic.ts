/** The calls to one node: how many are open, and since when the node has been silent. */
export interface NodeTraffic {
  openCalls: number
  silentSince: number
}

/** The calls over one connection, by the node that they go to. */
export class Traffic {
  readonly #nodes = new Map<string, NodeTraffic>()
  #openCalls = 0
  #onIdle: (() => void) | undefined

  begin(node: string, now: number): NodeTraffic {
    let traffic = this.#nodes.get(node)
    if (traffic === undefined) {
      traffic = { openCalls: 0, silentSince: now }
      this.#nodes.set(node, traffic)
    }
    if (traffic.openCalls === 0) traffic.silentSince = now
    traffic.openCalls += 1
    this.#openCalls += 1
    return traffic
  }

  /** A call has ended, with an answer or an error. */
  end(traffic: NodeTraffic, now: number): void {
    traffic.openCalls -= 1
    traffic.silentSince = now
    this.#openCalls -= 1
    if (this.#openCalls === 0) this.#onIdle?.()
  }

  /** Calls back when no call is open; at once if none is. */
  whenIdle(callback: () => void): void {
    this.#onIdle = callback
    if (this.#openCalls === 0) callback()
  }
}
