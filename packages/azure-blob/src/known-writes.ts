/** The largest number of names whose last write is kept. For other names, the next grant takes a pause. */
const MOST = 10_000

/**
 * The ETags of writes with the last record of their name, as far as this process knows: its own grants, and its writes over
 * them.
 *
 * The times of the service are whole seconds. Any other record that was written in this second may be an older one that
 * has returned, from a snapshot or with metadata that was read earlier, over a grant with a larger token.
 */
export class KnownWrites {
  /** By name, the oldest first. */
  readonly #etags = new Map<string, string>()

  /** `undefined` removes the name. */
  keep(name: string, etag: string | undefined): void {
    this.#etags.delete(name)
    if (etag === undefined) return
    this.#etags.set(name, etag)
    if (this.#etags.size <= MOST) return
    for (const oldest of this.#etags.keys()) {
      this.#etags.delete(oldest)
      return
    }
  }

  has(name: string, etag: string): boolean {
    return this.#etags.get(name) === etag
  }
}
