/** Of so many names the last write is remembered; what was forgotten costs the next grant a pause. */
const MOST = 10_000

/**
 * The writes of which this process knows that the record in them is the last one of its name, by their ETags: grants that
 * it wrote, and what it wrote on top of these.
 *
 * The service tells times in whole seconds. Any other record that was written within this second may be an older one that
 * has returned, from a snapshot or with metadata that somebody read earlier; a later token may have been granted since.
 */
export class KnownWrites {
  /** By name, the oldest first. */
  readonly #etags = new Map<string, string>()

  /** `undefined`: nothing is known of the name any more. */
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
