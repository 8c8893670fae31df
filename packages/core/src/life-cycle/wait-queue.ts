/** The place of a waiter in the queue of a name. */
export interface Place {
  readonly grantId: string
  /** When the place ends unless the request is repeated before, on the store's clock. */
  readonly keptUntil: number
}

interface Node<P> {
  place: P
  previous: Node<P> | undefined
  next: Node<P> | undefined
}

/** A queue with at least this number of places is searched for places that have ended. */
const SWEEP_FROM = 64

/**
 * The waiters of a name, first come, first served. A linked list beside a map, because removing the first entry of a
 * long array, or finding the first entry of a map that had many before it, takes time in proportion to its length.
 */
export class WaitQueue<P extends Place = Place> {
  readonly #nodes = new Map<string, Node<P>>()
  #first: Node<P> | undefined
  #last: Node<P> | undefined
  #sweepAt = SWEEP_FROM

  /** The number of places, including those that have ended and were not removed yet. */
  get size(): number {
    return this.#nodes.size
  }

  get(grantId: string): P | undefined {
    return this.#nodes.get(grantId)?.place
  }

  /** The places, the first one first. */
  *places(): Generator<P, void, undefined> {
    for (let node = this.#first; node !== undefined; node = node.next) yield node.place
  }

  /** Replaces the place with the same grant id, or adds the place at the end. */
  keep(place: P): void {
    const kept = this.#nodes.get(place.grantId)
    if (kept !== undefined) {
      kept.place = place
      return
    }
    const node = { place, previous: this.#last, next: undefined }
    if (this.#last === undefined) this.#first = node
    else this.#last.next = node
    this.#last = node
    this.#nodes.set(place.grantId, node)
  }

  remove(grantId: string): void {
    const node = this.#nodes.get(grantId)
    if (node === undefined) return
    this.#nodes.delete(grantId)
    if (node.previous === undefined) this.#first = node.next
    else node.previous.next = node.next
    if (node.next === undefined) this.#last = node.previous
    else node.next.previous = node.previous
  }

  /**
   * The grant ids of the places that have ended. A caller that adds a place removes them, because they would pile up behind
   * a first place that lasts. The queue is searched only each time its size has doubled; otherwise none are returned.
   */
  sweep(now: number): readonly string[] {
    if (this.size < this.#sweepAt) return []
    const ended: string[] = []
    for (const { grantId, keptUntil } of this.places()) if (keptUntil <= now) ended.push(grantId)
    this.#sweepAt = Math.max(SWEEP_FROM, 2 * (this.size - ended.length))
    return ended
  }
}
