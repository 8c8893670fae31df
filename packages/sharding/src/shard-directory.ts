/** Where shards live, as the records of the store show it. Asking costs nothing: the store is not asked for each message. */
export interface ShardDirectory {
  /** The address of the process that has the shard; `undefined` if it is not known. */
  addressOf(shard: number): string | undefined
  /**
   * Another process has said where the shard is; `undefined`: not where it was. Newer records replace it. The listeners of
   * `onChange` are not called.
   */
  learn(shard: number, address: string | undefined): void
  /** Asks for a look at the records soon: the address of a shard is not known, or nobody is there. */
  refresh(): void
  /** Calls the listener after records have shown a change. Returns what removes it. */
  onChange(listener: () => void): () => void
}
