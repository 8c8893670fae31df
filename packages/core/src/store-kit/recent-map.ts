/** A map that keeps the entries that were set last, and drops the oldest when there are too many. */
export class RecentMap<V> extends Map<string, V> {
  readonly #most: number

  /** `most`: the largest number of entries. */
  constructor(most: number) {
    super()
    this.#most = most
  }

  override set(key: string, value: V): this {
    this.delete(key)
    super.set(key, value)
    const [oldest] = this.keys()
    if (this.size > this.#most && oldest !== undefined) this.delete(oldest)
    return this
  }
}
