/** The kinds of changes that a part of the page can listen to. */
export type Topic = 'leases' | 'status' | 'recipes' | 'findings' | 'history'

/** Notifies the parts of the page of changes. Each part is drawn at most once a frame, however many changes there are. */
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
