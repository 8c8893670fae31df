const SIZE = 256

/** The last latencies seen, in milliseconds, and their upper percentiles. */
export class LatencyWindow {
  readonly #latencies = new Float64Array(SIZE)
  #seen = 0

  get count(): number {
    return Math.min(this.#seen, SIZE)
  }

  add(latency: number): void {
    this.#latencies[this.#seen % SIZE] = latency
    this.#seen += 1
  }

  /** The latency that the given part (from 0 to 1) of those seen did not exceed; 0 where none was seen. */
  percentile(part: number): number {
    const sorted = this.#latencies.slice(0, this.count).sort()
    return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? 0
  }
}
