/** What a part of the page can wait for. */
export type Topic = 'leases' | 'status' | 'recipes' | 'findings' | 'history'

/** Tells the parts of the page what has changed. They draw at most once in each frame, however often they are told. */
export class Topics {
  readonly #listeners = new Map<Topic, Set<() => void>>()

  on(topic: Topic, listener: () => void): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set()
    this.#listeners.set(topic, listeners.add(listener))
    return () => listeners.delete(listener)
  }

  changed(topic: Topic): void {
    for (const listener of this.#listeners.get(topic) ?? []) listener()
  }
}
