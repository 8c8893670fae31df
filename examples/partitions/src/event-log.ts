/** A log with partitions, as Kafka, Kinesis or a table has them: events are appended, and read from an offset on. */
export class EventLog {
  readonly #partitions: string[][]

  constructor(partitions: number) {
    this.#partitions = Array.from({ length: partitions }, () => [])
  }

  get partitions(): number {
    return this.#partitions.length
  }

  append(partition: number, event: string): void {
    this.#partitions[partition]?.push(event)
  }

  /** The events from an offset on, ten at most; empty after a while if there are none. */
  async read(partition: number, offset: number): Promise<readonly string[]> {
    await new Promise((resolve) => setTimeout(resolve, 10))
    return this.#partitions[partition]?.slice(offset, offset + 10) ?? []
  }
}
