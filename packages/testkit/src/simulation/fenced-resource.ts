/** The resource that the lease protects. It rejects a write after a write with a larger fencing token. */
export class FencedResource {
  readonly #largest = new Map<string, bigint>()

  /** Whether the write is accepted. */
  write(name: string, fencingToken: bigint): boolean {
    const largest = this.#largest.get(name)
    if (largest !== undefined && fencingToken < largest) return false
    this.#largest.set(name, fencingToken)
    return true
  }
}
